"""The queue before the exporter: it never holds the program, and its end is bounded."""

import gc
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from loopspan import ConfigurationError, PolicyExporter
from loopspan.telemetry.export import Delivery, ExportProcessor, OtlpExporter
from tests.telemetry.export.receivers import MIB, Receiver, always, made, receiving, then

PROGRAM = """
import sys
from loopspan import ToolLoop, configure
from loopspan.testing import ScriptedModel

configure()
for _ in range(3):
    model = ScriptedModel(["Hello."])
    ToolLoop(model.model, client=model.client).run("Hi")
print("the program is over", flush=True)
"""


class Held(SpanExporter):
    """An exporter that holds each batch until it is released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.release = threading.Event()
        self.names: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.begun.set()
        self.release.wait(60)
        self.names += [span.name for span in spans]
        return SpanExportResult.SUCCESS


class Broken(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise OSError("http://user:word@host")


def test_what_is_queued_is_sent_when_it_is_flushed() -> None:
    held = Held()
    held.release.set()
    processor = ExportProcessor(held)
    for span in made(1, 1, 1):
        processor.on_end(span)
    assert processor.flush(60)
    assert held.names == ["s0", "s1", "s2"]
    assert processor.flush(60)
    processor.shutdown()
    assert (processor.delivery.sent, processor.delivery.dropped) == (3, {})


def test_a_program_goes_on_while_its_receiver_holds_a_batch(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "10")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "5")
    held = Held()
    processor = ExportProcessor(held)
    spans = made(*[1] * 100)
    for span in spans[:5]:
        processor.on_end(span)
    assert held.begun.wait(60)
    for span in spans[5:]:
        processor.on_end(span)  # the receiver has not answered yet
    assert not processor.flush(0)
    assert processor.delivery.dropped == {"queue_full": 85}
    held.release.set()
    assert processor.flush(60)
    processor.shutdown()
    assert held.names == [f"s{n}" for n in (*range(5), *range(90, 100))]
    [record] = caplog.records  # not one for each span
    assert record.getMessage() == "1 spans are not exported, queue_full"


def test_the_queue_is_bounded_in_bytes() -> None:
    held = Held()
    processor = ExportProcessor(held, max_queue_bytes=3 * MIB)
    first, *rest = made(*[MIB] * 9)
    processor.on_end(first)
    thread = threading.Thread(target=processor.flush, args=(60,))
    thread.start()
    assert held.begun.wait(60)
    for span in rest:
        processor.on_end(span)
    held.release.set()
    thread.join()
    assert processor.flush(60)
    processor.shutdown()
    assert held.names == ["s0", "s7", "s8"]
    assert processor.delivery.dropped == {"queue_full": 6}


def test_a_span_that_is_not_sampled_is_not_exported() -> None:
    held = Held()
    held.release.set()
    processor = ExportProcessor(held)
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    with provider.get_tracer("t").start_as_current_span("s"):
        pass
    provider.shutdown()
    assert held.names == []


def test_what_comes_after_the_end_is_counted() -> None:
    processor = ExportProcessor(Held())
    processor.shutdown()
    processor.shutdown()
    processor.on_end(made(1)[0])
    assert processor.delivery.dropped == {"shutdown": 1}


def test_an_exporter_that_raises_loses_its_batch_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    processor = ExportProcessor(Broken())
    for span in made(1, 1):
        processor.on_end(span)
    processor.shutdown()
    assert processor.delivery.dropped == {"refused": 2}
    assert "word" not in caplog.text


def test_dropped_spans_are_a_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr("opentelemetry.metrics.get_meter", provider.get_meter)
    processor = ExportProcessor(Broken())
    for span in made(1, 1):
        processor.on_end(span)
    processor.shutdown()
    data = reader.get_metrics_data()
    assert data is not None
    [metric] = data.resource_metrics[0].scope_metrics[0].metrics
    [point] = metric.data.data_points
    assert (metric.name, metric.unit) == ("loopspan.export.dropped", "{span}")
    assert getattr(point, "value", None) == 2
    assert point.attributes == {"reason": "refused"}
    provider.shutdown()


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_a_variable_that_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", value)
    with pytest.raises(ConfigurationError, match=f"OTEL_BSP_MAX_QUEUE_SIZE is '{value}'"):
        ExportProcessor(Broken())


def test_rc_02_processors_come_and_go_without_a_trace() -> None:
    gc.collect()  # what other tests have left to it is not counted
    threads = set(threading.enumerate())
    files = len(os.listdir("/proc/self/fd"))
    with receiving(always()) as receiver:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
            for _ in range(500):
                delivery = Delivery()
                processor = ExportProcessor(OtlpExporter(delivery), delivery)
                processor.on_end(made(1)[0])
                processor.shutdown()
        assert receiver.names == {"s0": 500}
    for thread in set(threading.enumerate()) - threads:
        thread.join(60)  # those of the receiver end soon after their connections
        assert not thread.is_alive(), thread
    assert len(os.listdir("/proc/self/fd")) <= files


def test_a_forked_child_sends_what_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(always()) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        program = """
import os, sys
from opentelemetry.sdk.trace import TracerProvider
from loopspan import PolicyExporter
from loopspan.telemetry.export import Delivery, ExportProcessor, OtlpExporter

delivery = Delivery()
provider = TracerProvider()
provider.add_span_processor(ExportProcessor(PolicyExporter(OtlpExporter(delivery)), delivery))
tracer = provider.get_tracer("t")
tracer.start_span("before").end()
pid = os.fork()
tracer.start_span("child" if pid == 0 else "parent").end()
provider.shutdown()
if pid:
    assert os.waitpid(pid, 0)[1] == 0
assert (delivery.sent, delivery.dropped) == (2 if pid else 1, {})
os._exit(0)
"""
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert receiver.names == {"before": 1, "parent": 1, "child": 1}


@contextmanager
def never_answering() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def absent() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as kept:  # bound, so that nobody else listens there meanwhile
        kept.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{kept.getsockname()[1]}"


@contextmanager
def busy() -> Iterator[str]:
    with receiving(always(503)) as receiver:
        yield receiver.url


@contextmanager
def healthy() -> Iterator[str]:
    with receiving(always()) as receiver:
        yield receiver.url
        assert len(receiver.accepted) == 6


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
@pytest.mark.parametrize("sink", [never_answering, absent, busy], ids=lambda sink: sink.__name__)
def test_rc_03_a_program_ends_whatever_its_receiver_does(sink: object, protocol: str) -> None:
    assert callable(sink)
    with sink() as url:
        done = program(url, protocol)
    assert done.stdout == "the program is over\n"
    assert "6 spans are not exported, " in done.stderr
    assert "Traceback" not in done.stderr


def test_rc_03_a_short_program_delivers_what_it_made() -> None:
    with healthy() as url:
        done = program(url, "http/protobuf")
    assert done.stdout == "the program is over\n"
    assert "not exported" not in done.stderr


def program(url: str, protocol: str) -> subprocess.CompletedProcess[str]:
    """Run a short program; its end takes at most the documented five seconds, and a moment."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "LOOPSPAN_"))}
    env |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_METRICS_EXPORTER": "none",
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=env,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_receiver_that_comes_back_gets_everything_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(then(503, 503, 503)) as receiver:
        processor = exporting_to(receiver, monkeypatch)
        for span in made(1, 1, 1):
            processor.on_end(span)
        assert processor.flush(60)
        processor.shutdown()
    assert receiver.names == {"s0": 1, "s1": 1, "s2": 1}
    assert (processor.delivery.sent, processor.delivery.dropped) == (3, {})


def exporting_to(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> ExportProcessor:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    delivery = Delivery()
    exporter = OtlpExporter(delivery, base_delay=0.001)
    return ExportProcessor(PolicyExporter(exporter, content="full"), delivery)

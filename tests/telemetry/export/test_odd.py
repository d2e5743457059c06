"""What cannot be sent at all, and odd times to ask: it is counted, and nothing is held."""

import sys
import threading
from types import FrameType
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from loopspan.telemetry.export import Delivery, ExportProcessor, OtlpExporter
from loopspan.telemetry.export.settings import settings
from tests.telemetry.export.receivers import always, made, receiving, receiving_grpc
from tests.telemetry.export.test_processor import Broken, Held


def refuse(self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_span_that_cannot_be_encoded_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(always()) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        exporter = OtlpExporter()
        first, last = made(1, 1)
        without_ids = ReadableSpan("odd")
        assert exporter.export([first, without_ids, last]) is SpanExportResult.FAILURE
        exporter.shutdown()
    assert receiver.names == {"s0": 1, "s1": 1}
    assert (exporter.delivery.sent, exporter.delivery.dropped) == (2, {"refused": 1})
    assert exporter.delivery.problem == "a span cannot be encoded (ValueError)"


def test_a_header_that_cannot_be_sent_is_told_without_its_value(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with receiving(always()) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=caf%C3%A9")
        delivery = Delivery()
        processor = ExportProcessor(OtlpExporter(delivery), delivery)
        for span in made(1, 1):
            processor.on_end(span)
        processor.shutdown()
    assert (delivery.sent, delivery.dropped) == (0, {"refused": 2})
    assert "a request cannot be made (UnicodeEncodeError)" in caplog.text
    assert "caf" not in caplog.text


def test_a_certificate_that_is_not_there_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving_grpc() as receiver:
        url = receiver.url.replace("http://", "https://")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/not/there.pem")
        exporter = OtlpExporter()
        assert exporter.export(made(1, 1)) is SpanExportResult.FAILURE
        exporter.shutdown()
    assert exporter.delivery.dropped == {"refused": 2}
    assert exporter.delivery.problem == "a request cannot be made (FileNotFoundError)"


@pytest.mark.parametrize(
    ("endpoint", "said", "insecure"),
    [
        ("collector.example.com:4317", None, False),
        ("collector.example.com:4317", "false", False),
        ("collector.example.com:4317", "true", True),
        ("http://localhost:4317", None, True),
        ("https://collector.example.com:4317", None, False),
        ("https://collector.example.com:4317", "true", False),
    ],
)
def test_keys_never_go_in_the_clear_unless_the_variables_say_so(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, said: str | None, insecure: bool
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
    if said is not None:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_INSECURE", said)
    assert settings("grpc").insecure is insecure


def test_a_program_without_a_thread_to_spare_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()
    held.release.set()
    processor = ExportProcessor(held)
    [span] = made(1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        processor.on_end(span)
        assert not processor.flush()
    processor.on_end(span)
    assert processor.flush(60)
    processor.shutdown()
    assert held.names == ["s0", "s0"]


def test_what_had_no_thread_until_the_end_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = ExportProcessor(Held())
    [span] = made(1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        processor.on_end(span)
        processor.shutdown()
    assert processor.delivery.dropped == {"shutdown": 1}


def test_a_signal_that_ends_a_span_while_another_is_counted_holds_nothing() -> None:
    processor = ExportProcessor(Broken())
    processor.shutdown()
    [span] = made(1)
    dropped = []

    def interrupted(frame: FrameType, event: str, arg: object) -> Any:
        """Do at each line of `drop` what a signal handler may do there."""
        if frame.f_code is not Delivery.drop.__code__:
            return None
        sys.settrace(None)
        if event == "line":
            processor.on_end(span)
        sys.settrace(interrupted)
        return interrupted

    def end() -> None:
        sys.settrace(interrupted)
        processor.on_end(span)
        sys.settrace(None)
        dropped.append(processor.delivery.dropped["shutdown"])

    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    thread.join(60)
    assert dropped
    assert dropped[0] > 5

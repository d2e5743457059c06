"""A Collector that is killed and comes back: no span is lost, and no run has waited for it."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from loopspan import ToolLoop, tool
from loopspan.telemetry.export import ExportProcessor, OtlpExporter
from loopspan.telemetry.export.settings import Settings
from loopspan.testing import Captured, ScriptedModel, calls, capture
from tests.backends.jaeger_server import Jaeger
from tests.backends.ops_stack import Stack
from tests.backends.processes import free_port

pytestmark = pytest.mark.backends

PATIENCE = 60


@tool
def look() -> str:
    """Look."""
    return "nothing yet"


def sdks(stack: Stack) -> BatchSpanProcessor:
    """OpenTelemetry's own, with the patience that the guide asks for."""
    exporter = OTLPSpanExporter(endpoint=f"{stack.http}/v1/traces", timeout=PATIENCE)
    return BatchSpanProcessor(exporter, schedule_delay_millis=50)


def ours(stack: Stack) -> ExportProcessor:
    """What `configure()` makes."""
    exporter = OtlpExporter(given=Settings(f"{stack.http}/v1/traces"), base_delay=0.1)
    return ExportProcessor(exporter)


each_export = pytest.mark.parametrize("export", [sdks, ours])
Export: TypeAlias = Callable[[Stack], SpanProcessor]


def run(captured: Captured) -> str:
    """A run of two rounds and a call, four spans; returns its trace."""
    model = ScriptedModel([calls("look"), "Done."])
    loop = ToolLoop(
        model.model,
        [look],
        tracer_provider=captured.provider,
        content="full",
        client=model.client,
    )
    trace_id = loop.run("Go on.").run.trace_id
    assert trace_id is not None
    return trace_id


def span_ids(spans: list[ReadableSpan], trace_id: str) -> set[str]:
    contexts = [span.context for span in spans if span.context]
    return {f"{c.span_id:016x}" for c in contexts if f"{c.trace_id:032x}" == trace_id}


def has_each(jaeger: Jaeger, spans: list[ReadableSpan], traces: list[str]) -> bool:
    """Whether Jaeger has every span of these traces; it is given time for that."""
    for trace_id in traces:
        wanted = span_ids(spans, trace_id)
        found = jaeger.trace(trace_id, spans=len(wanted), timeout=PATIENCE)
        if {span["spanId"] for span in found} != wanted:
            return False
    return True


@each_export
def test_a_collector_killed_in_mid_run_loses_nothing_and_stops_nobody(
    backends: Stack, export: Export
) -> None:
    """All runs have ended before the Collector is back, so none of them has waited for it."""
    stack = backends.beside(f"killed-{export.__name__}")
    with capture() as captured:
        processor = export(stack)
        captured.provider.add_span_processor(processor)
        traces: list[str] = []
        with stack.killed_collector():
            traces += [run(captured) for _ in range(20)]
            backends.full.trace(traces[0], spans=4)
        traces += [run(captured) for _ in range(20)]

        with stack.collector():
            assert processor.force_flush(PATIENCE * 1000)
            assert has_each(stack.full, captured.spans, traces)
            assert has_each(stack.stripped, captured.spans, traces)


@each_export
def test_what_the_collector_had_taken_survives_it(backends: Stack, export: Export) -> None:
    """Jaeger is away; the spans lie in the queue on disk when the Collector is killed."""
    stack = backends.beside(f"filled-{export.__name__}", JAEGER_ENDPOINT=f"127.0.0.1:{free_port()}")
    with capture() as captured:
        processor = export(stack)
        captured.provider.add_span_processor(processor)
        with stack.killed_collector():
            traces = [run(captured) for _ in range(10)]
            assert processor.force_flush(PATIENCE * 1000)
        again = backends.beside(
            f"emptied-{export.__name__}", QUEUE_FOLDER=stack.env["QUEUE_FOLDER"]
        )

        with again.collector():
            assert has_each(backends.full, captured.spans, traces)

"""`KeepForRunTrace`: every run is in `RunTrace`, and exporters get what they got before."""

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, Sum
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    ParentBased,
    Sampler,
    TraceIdRatioBased,
)

from loopspan import KeepForRunTrace, RunTrace, tool
from loopspan.testing import ScriptedModel, calls
from tests.loop.ways import loop_of

RATIO = ParentBased(TraceIdRatioBased(0.3))


class Counted(RandomIdGenerator):
    """Trace ids spread evenly, the same ones each time."""

    def __init__(self) -> None:
        self.count = 0

    def generate_trace_id(self) -> int:
        self.count += 1
        return (1 << 100) + (self.count % 10) * (2**64 // 10) + self.count


@tool
def look() -> str:
    """Look."""
    return "nothing yet"


def traced(sampler: Sampler) -> tuple[list[tuple[int, str]], RunTrace, list[str]]:
    """Make ten runs, a web request around each other one; what a batch exporter got of them."""
    provider = TracerProvider(sampler, shutdown_on_exit=False, id_generator=Counted())
    exporter, run_trace = InMemorySpanExporter(), RunTrace()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    provider.add_span_processor(run_trace)
    web = provider.get_tracer("web")
    ids = []
    for n in range(10):
        loop = loop_of(ScriptedModel([calls("look"), "Done."]), [look], tracer_provider=provider)
        if n % 2:
            ids.append(loop.run("Hi.").run_id)
            continue
        with web.start_as_current_span("GET /ask", attributes={"http.request.method": "GET"}):
            ids.append(loop.run("Hi.").run_id)
    provider.shutdown()
    exported = []
    for span in exporter.get_finished_spans():
        assert span.context is not None
        exported.append((span.context.trace_id, span.name))
    return exported, run_trace, ids


@pytest.mark.parametrize("sampler", [ALWAYS_ON, ALWAYS_OFF, DEFAULT_OFF, RATIO])
def test_rc_06_all_runs_are_seen_and_the_export_is_the_same(sampler: Sampler) -> None:
    before, _, _ = traced(sampler)
    exported, run_trace, ids = traced(KeepForRunTrace(sampler))

    assert exported == before
    assert [run.run_id for run in run_trace.runs()] == ids
    assert [(run.outcome, len(run.steps)) for run in run_trace.runs()] == [("completed", 5)] * 10


def test_rc_06_a_ratio_exports_some_runs_and_these_whole() -> None:
    exported, _, _ = traced(KeepForRunTrace(RATIO))
    traces = {trace_id for trace_id, _ in exported}

    assert 0 < len(traces) < 10
    for trace_id in traces:
        spans = [name for each, name in exported if each == trace_id and name != "GET /ask"]
        assert len(spans) == 4


def test_rc_06_metrics_count_all_runs() -> None:
    reader = InMemoryMetricReader()
    provider = TracerProvider(KeepForRunTrace(ALWAYS_OFF), shutdown_on_exit=False)
    meters = MeterProvider([reader], shutdown_on_exit=False)
    for _ in range(10):
        loop_of(ScriptedModel(["Done."]), [], tracer_provider=provider, meter_provider=meters).run(
            "Hi."
        )

    data = reader.get_metrics_data()
    assert data is not None
    found = {m.name: m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}
    runs = found["loopspan.runs"].data
    assert isinstance(runs, Sum)
    assert [point.value for point in runs.data_points] == [10]


@pytest.mark.parametrize("sampler", [ALWAYS_OFF, TraceIdRatioBased(0.1), None])
def test_rc_05_a_run_is_the_same_whatever_is_sampled(sampler: Sampler | None) -> None:
    provider = None if sampler is None else TracerProvider(sampler, shutdown_on_exit=False)
    result = loop_of(ScriptedModel([calls("look"), "Done."]), [look], tracer_provider=provider).run(
        "Hi."
    )

    assert (result.content, len(result.run.steps)) == ("Done.", 5)


def test_spans_of_no_run_stay_dropped() -> None:
    tracer = TracerProvider(KeepForRunTrace(ALWAYS_OFF), shutdown_on_exit=False).get_tracer("web")
    span = tracer.start_span("GET /", attributes={"http.request.method": "GET"})

    assert not span.is_recording()
    assert not tracer.start_span("bare").is_recording()


def test_it_says_what_it_does() -> None:
    sampler = KeepForRunTrace(TraceIdRatioBased(0.5))
    assert sampler.get_description() == "KeepForRunTrace{TraceIdRatioBased{0.5}}"

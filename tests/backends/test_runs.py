"""A run read back from a real Jaeger is the run that `run()` returned and `RunTrace` gathered."""

import asyncio
from collections.abc import Callable

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from loopspan import PolicyExporter, RunResult, ToolLoop, ToolOptions, tool
from loopspan.runs import Run, read_runs
from loopspan.runs.otlp import spans
from loopspan.telemetry.content import Content
from loopspan.testing import Captured, ScriptedModel, capture, message
from tests.backends.jaeger_server import Jaeger

pytestmark = pytest.mark.backends


@tool
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("no")


def over_http(jaeger: Jaeger) -> SpanExporter:
    return HttpExporter(endpoint=f"{jaeger.otlp_http}/v1/traces")


def over_grpc(jaeger: Jaeger) -> SpanExporter:
    return GrpcExporter(endpoint=jaeger.otlp_grpc, insecure=True)


def plain(loop: ToolLoop, options: ToolOptions) -> RunResult:
    return loop.run("1 + 2 and 3 + 4? 👋", options=options)


def awaited(loop: ToolLoop, options: ToolOptions) -> RunResult:
    return asyncio.run(loop.arun("1 + 2 and 3 + 4? 👋", options=options))


def streamed(loop: ToolLoop, options: ToolOptions) -> RunResult:
    with loop.stream("1 + 2 and 3 + 4? 👋", options=options) as stream:
        return stream.drain()


def streamed_async(loop: ToolLoop, options: ToolOptions) -> RunResult:
    async def drained() -> RunResult:
        async with loop.astream("1 + 2 and 3 + 4? 👋", options=options) as stream:
            return await stream.drain()

    return asyncio.run(drained())


@pytest.mark.parametrize("exporter", [over_http, over_grpc])
@pytest.mark.parametrize("way", [plain, awaited, streamed, streamed_async])
def test_run_is_the_same_wherever_it_is_read(
    jaeger: Jaeger,
    exporter: Callable[[Jaeger], SpanExporter],
    way: Callable[[ToolLoop, ToolOptions], RunResult],
) -> None:
    with capture() as captured:
        captured.provider.add_span_processor(BatchSpanProcessor(exporter(jaeger)))
        result = traced(captured, way, "full")

        assert result.run == captured.run_trace.run(result.run_id)
        assert [result.run] == from_jaeger(jaeger, captured, result)
        assert [step.kind for step in result.run.steps].count("tool") == 3
        assert result.run.content == "3, 7, and one that failed"


@pytest.mark.parametrize("content", ["off", "metadata"])
def test_run_is_the_same_where_less_is_recorded(jaeger: Jaeger, content: Content) -> None:
    with capture() as captured:
        captured.provider.add_span_processor(BatchSpanProcessor(over_http(jaeger)))
        result = traced(captured, plain, content)

        assert result.run == captured.run_trace.run(result.run_id)
        assert [result.run] == from_jaeger(jaeger, captured, result)
        assert result.run.content is None


def test_exported_without_content_it_is_the_run_recorded_without(jaeger: Jaeger) -> None:
    with capture() as captured:
        exporter = PolicyExporter(over_http(jaeger), content="metadata")
        captured.provider.add_span_processor(BatchSpanProcessor(exporter))
        result = traced(captured, plain, "full")
        [exported] = from_jaeger(jaeger, captured, result)

    assert exported.content is None
    assert exported.usage == result.run.usage
    assert [s.kind for s in exported.steps] == [s.kind for s in result.run.steps]
    assert "👋" not in exported.model_dump_json()


def traced(
    captured: Captured, way: Callable[[ToolLoop, ToolOptions], RunResult], content: Content
) -> RunResult:
    asked = [("add", {"a": 1, "b": 2}, "call_1"), ("add", {"a": 3, "b": 4}, "call_2")]
    model = ScriptedModel(
        [
            message("Let me see.", tool_calls=[*asked, ("fail", {}, "call_3")]),
            message("3, 7, and one that failed", usage={"prompt_tokens": 9, "cost": 0.5}),
        ]
    )
    loop = ToolLoop(
        model.model,
        [add, fail],
        tracer_provider=captured.provider,
        content=content,
        client=model.client,
        async_client=model.async_client,
    )
    return way(loop, ToolOptions(conversation_id="c-1", metadata={"team": "a"}))


def from_jaeger(jaeger: Jaeger, captured: Captured, result: RunResult) -> list[Run]:
    captured.provider.force_flush()
    assert result.run.trace_id is not None
    found = jaeger.trace(result.run.trace_id, spans=len(captured.spans))
    return list(read_runs(spans({"resourceSpans": [{"scopeSpans": [{"spans": found}]}]})))

"""A failure of telemetry stays out of the traced program; under test it is raised."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler, SamplingResult

from loopspan import InvalidRequestError, RunResult, tool
from loopspan.telemetry import spans as span_layer
from loopspan.testing import Answer, ScriptedModel, calls
from tests.loop.ways import Way, each_way, loop_of


class Broken(RuntimeError):
    """What the broken parts of these tests raise."""


class BrokenSampler(Sampler):
    """Fails for each span, or for all but that of the run."""

    def __init__(self, but_runs: bool) -> None:
        self._but_runs = but_runs

    def should_sample(
        self, parent_context: Context | None, trace_id: int, name: str, *args: Any, **kwargs: Any
    ) -> SamplingResult:
        if self._but_runs and name == "invoke_agent":
            return ALWAYS_ON.should_sample(parent_context, trace_id, name)
        raise Broken

    def get_description(self) -> str:
        return "broken"


class BrokenAtStart(SpanProcessor):
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        raise Broken


class BrokenAtEnd(SpanProcessor):
    def on_end(self, span: ReadableSpan) -> None:
        raise Broken


class BrokenProvider(trace.TracerProvider):
    def get_tracer(self, *args: Any, **kwargs: Any) -> trace.Tracer:
        raise Broken


def provider(
    processors: Sequence[SpanProcessor] = (), sampler: Sampler | None = None
) -> TracerProvider:
    made = TracerProvider(sampler=sampler, shutdown_on_exit=False)
    for processor in processors:
        made.add_span_processor(processor)
    return made


BROKEN: dict[str, Callable[[], trace.TracerProvider]] = {
    "sampler": lambda: provider(sampler=BrokenSampler(but_runs=False)),
    "sampler-of-calls": lambda: provider(sampler=BrokenSampler(but_runs=True)),
    "processor-at-start": lambda: provider([BrokenAtStart()]),
    "processor-at-end": lambda: provider([BrokenAtEnd()]),
    "provider": BrokenProvider,
}
each_broken = pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)


@tool
def look() -> str:
    """Look."""
    return "nothing yet"


def made(way: Way, last: Answer, **settings: Any) -> tuple[list[bytes], RunResult]:
    model = ScriptedModel([calls("look", id="call_1"), last])
    try:
        return model.wire, way(loop_of(model, [look], content="full", **settings))
    except InvalidRequestError as error:
        result: RunResult = error.result
        return model.wire, result


@each_way
@each_broken
@pytest.mark.parametrize(
    "last", ["Done.", lambda _: httpx.Response(400, json={})], ids=["answer", "error"]
)
def test_a_broken_part_does_not_reach_the_program(
    way: Way,
    broken: Callable[[], trace.TracerProvider],
    last: Answer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    wire, whole = made(way, last)
    monkeypatch.setattr(span_layer, "strict", False)
    with caplog.at_level(logging.WARNING, "loopspan.telemetry"):
        sent, result = made(way, last, tracer_provider=broken())

    assert sent == wire
    assert (result.outcome, result.messages, result.content, str(result.error)) == (
        whole.outcome,
        whole.messages,
        whole.content,
        str(whole.error),
    )
    assert [step.kind for step in result.run.steps] == [step.kind for step in whole.run.steps]
    said = [r for r in caplog.records if r.name == "loopspan.telemetry"]
    assert said
    assert {r.exc_info[0] for r in said if r.exc_info} == {Broken}


@each_way
@each_broken
def test_under_test_it_is_raised(way: Way, broken: Callable[[], trace.TracerProvider]) -> None:
    with pytest.raises(Broken):
        made(way, "Done.", tracer_provider=broken())

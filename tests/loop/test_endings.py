"""Rule 9 of the loop, cases SL-03, SL-04, SL-06, SL-07: every way out ends every span, once."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable

import httpx
import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from loopspan import RetryPolicy, RunResult, ServerError, ToolLoop, tool
from loopspan.testing import Captured, ScriptedModel, calls, capture
from tests.loop.endings import ENDINGS
from tests.loop.held import holding
from tests.loop.ways import Way, each_way, loop_of

Ending = Callable[[Captured], None]

each_ending = pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)


class Counting(SpanProcessor):
    """Counts how often each span starts and ends."""

    def __init__(self) -> None:
        self.started: Counter[int] = Counter()
        self.ended: Counter[int] = Counter()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        self.started[id_of(span)] += 1

    def on_end(self, span: ReadableSpan) -> None:
        self.ended[id_of(span)] += 1


def id_of(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


@each_ending
def test_sl03_every_span_ends_once_and_nothing_is_written_to_it_after(
    ending: Ending, caplog: pytest.LogCaptureFixture
) -> None:
    counting = Counting()
    with capture() as captured:
        captured.provider.add_span_processor(counting)
        ending(captured)

    assert counting.started == counting.ended
    assert set(counting.ended.values()) == {1}
    assert [r.getMessage() for r in caplog.records if r.name.startswith("opentelemetry")] == []


@each_ending
def test_the_run_says_which_way_it_ended(ending: Ending) -> None:
    with capture() as captured:
        ending(captured)

    [run] = captured.run_trace.runs()
    assert run.outcome == ENDINGS[ending]
    assert "open" not in {step.state for step in run.steps}
    assert (run.error is None) is (run.outcome not in ("error", "cancelled"))
    status = captured.spans[-1].status.status_code.name
    assert status == ("UNSET" if run.error is None else "ERROR")


def test_sl06_every_child_lies_within_its_parent() -> None:
    for ending in ENDINGS:
        with capture() as captured:
            ending(captured)
        spans = {s.context.span_id: (s.start_time, s.end_time) for s in captured.spans if s.context}
        for span in captured.spans:
            if span.parent is not None:
                started, ended = spans[span.parent.span_id]
                assert (started or 0) <= (span.start_time or 0), (ending, span.name)
                assert (span.end_time or 0) <= (ended or 0), (ending, span.name)


@each_way
def test_sl04_a_server_error_ends_both_spans_in_error(way: Way) -> None:
    model = ScriptedModel([httpx.Response(500, content=b"{}")])
    with capture() as captured:
        loop = loop_of(model, [], captured, retry=RetryPolicy(attempts=1))
        with pytest.raises(ServerError):
            way(loop)

    assert [
        (span.name, span.status.status_code.name, (span.attributes or {})["error.type"])
        for span in captured.spans
    ] == [("chat scripted-1", "ERROR", "500"), ("invoke_agent", "ERROR", "500")]


def check_cancelled(captured: Captured, names: list[str]) -> None:
    cancelled = [s for s in captured.spans if (s.attributes or {}).get("loopspan.outcome")]
    assert [span.name for span in cancelled] == names
    for span in cancelled:
        attributes = span.attributes or {}
        assert attributes["loopspan.outcome"] == attributes["error.type"] == "cancelled"
        assert span.status.status_code.name == "ERROR"
        assert not span.events


async def cancelled(run: asyncio.Task[RunResult], begun: threading.Event) -> None:
    await asyncio.to_thread(begun.wait, 30)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


def test_sl07_a_task_is_cancelled_while_the_call_is_open() -> None:
    async def main(loop: ToolLoop, asked: threading.Event) -> None:
        await cancelled(asyncio.create_task(loop.arun("Go on.")), asked)

    with capture() as captured, holding() as held:
        loop = ToolLoop(held.model, tracer_provider=captured.provider)
        asyncio.run(main(loop, held.asked))
        assert held.left.wait(30)

    check_cancelled(captured, ["chat held-1", "invoke_agent"])


def test_sl07_a_task_is_cancelled_while_a_tool_runs() -> None:
    started, told = threading.Event(), threading.Event()

    @tool
    async def wait() -> None:
        """Wait until it is cancelled."""
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.set()
            raise

    async def main(loop: ToolLoop) -> None:
        await cancelled(asyncio.create_task(loop.arun("Go on.")), started)
        assert told.is_set()

    with capture() as captured:
        asyncio.run(main(loop_of(ScriptedModel([calls("wait")]), [wait], captured)))

    check_cancelled(captured, ["execute_tool wait", "invoke_agent"])


def test_sl07_a_time_limit_around_a_run_is_a_cancellation() -> None:
    async def main(loop: ToolLoop, asked: threading.Event) -> None:
        async with asyncio.timeout(None) as limit:
            run = asyncio.create_task(asyncio.to_thread(asked.wait, 30))
            run.add_done_callback(lambda _: limit.reschedule(0))
            await loop.arun("Go on.")

    with capture() as captured, holding() as held:
        loop = ToolLoop(held.model, tracer_provider=captured.provider)
        with pytest.raises(TimeoutError):
            asyncio.run(main(loop, held.asked))

    check_cancelled(captured, ["chat held-1", "invoke_agent"])

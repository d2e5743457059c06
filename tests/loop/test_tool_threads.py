"""The threads of tools: kept within a run, gone with it."""

import asyncio
import threading

import pytest

from loopspan import AsyncRunStream, ToolFinished, ToolOptions, tool
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of, plain, streamed


def end_of(threads: list[threading.Thread]) -> bool:
    """Whether these threads end, as far as somebody has told them to."""
    for thread in threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in threads)


class Noting:
    """A tool that notes which thread it runs in."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def note(self) -> None:
        """Note."""
        self.threads.append(threading.current_thread())


@each_way
def test_calls_one_after_another_share_a_thread_that_ends_with_the_run(way: Way) -> None:
    noting = Noting()
    loop = loop_of(ScriptedModel([calls("note")] * 4 + ["Done."]), [noting.note])
    way(loop, options=ToolOptions(tool_timeout=30.0))

    assert len(noting.threads) == 4
    assert len(set(noting.threads)) == 1
    assert noting.threads[0] is not threading.main_thread()
    assert end_of(noting.threads)


@pytest.mark.parametrize("way", [plain, streamed])
def test_a_single_call_without_timeout_runs_in_the_thread_of_the_caller(way: Way) -> None:
    noting = Noting()
    model = ScriptedModel([calls("note"), message(tool_calls=[("note", {})] * 2), "Done."])
    way(loop_of(model, [noting.note]), options=ToolOptions(parallel=1))

    assert noting.threads == [threading.current_thread()] * 3


@pytest.mark.parametrize("way", [plain, streamed])
def test_what_interrupts_the_caller_in_a_tool_is_not_told_to_the_model(way: Way) -> None:
    @tool
    def interrupted() -> None:
        """Be there when Ctrl-C is pressed."""
        raise KeyboardInterrupt

    model = ScriptedModel([calls("interrupted"), "Done."])
    with capture() as captured, pytest.raises(KeyboardInterrupt):
        way(loop_of(model, [interrupted], captured))
    assert len(model.requests) == 1
    [run] = captured.run_trace.runs()
    assert (run.outcome, run.steps[-1].state) == ("cancelled", "cancelled")


@each_way
def test_calls_side_by_side_have_a_thread_each(way: Way) -> None:
    together = threading.Barrier(3)
    noting = Noting()

    @tool
    def meet() -> None:
        """Meet the others."""
        together.wait(30)
        noting.note()

    asked = message(tool_calls=[("meet", {})] * 3)
    way(loop_of(ScriptedModel([asked, asked, "Done."]), [meet]))

    assert len(noting.threads) == 6
    assert len(set(noting.threads)) == 3
    assert end_of(noting.threads)


@each_way
def test_a_tool_that_hangs_keeps_no_other_call_from_a_thread(way: Way) -> None:
    begun, release = threading.Event(), threading.Event()
    noting = Noting()

    @tool(timeout=0.01)
    def hang() -> None:
        """Hang until the test is over; it may be given up before its thread has begun."""
        noting.note()
        begun.set()
        release.wait()

    model = ScriptedModel([calls("hang"), calls("note"), "Done."])
    try:
        way(loop_of(model, [hang, noting.note]), options=ToolOptions(tool_timeout=30.0))
        assert begun.wait(30)
        assert len(set(noting.threads)) == 2
    finally:
        release.set()
    assert end_of(noting.threads)


def test_an_async_stream_that_is_left_leaves_no_thread() -> None:
    noting = Noting()

    async def leave() -> AsyncRunStream:
        stream = loop_of(ScriptedModel([calls("note")]), [noting.note]).astream("Go on.")
        async for event in stream:
            if isinstance(event, ToolFinished):
                break
        return stream

    stream = asyncio.run(leave())  # it outlives its event loop
    del stream

    assert end_of(noting.threads)

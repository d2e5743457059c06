"""The threads of tools: kept within a run, gone with it."""

import asyncio
import threading

from loopspan import AsyncRunStream, ToolFinished, ToolOptions, tool
from loopspan.testing import ScriptedModel, calls, message
from tests.loop.ways import Way, each_way, loop_of


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
    way(loop_of(ScriptedModel([calls("note")] * 4 + ["Done."]), [noting.note]))

    assert len(noting.threads) == 4
    assert len(set(noting.threads)) == 1
    assert noting.threads[0] is not threading.main_thread()
    assert end_of(noting.threads)


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
    release = threading.Event()
    noting = Noting()

    @tool
    def hang() -> None:
        """Hang until the test is over."""
        noting.note()
        release.wait()

    model = ScriptedModel([calls("hang"), calls("note"), "Done."])
    try:
        way(loop_of(model, [hang, noting.note]), options=ToolOptions(tool_timeout=0.01))
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

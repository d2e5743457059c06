"""Each way in which a run may end, and what its outcome then is."""

import asyncio
import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from loopspan import (
    Budget,
    LoopspanError,
    RetryPolicy,
    TextDelta,
    Tool,
    ToolLoop,
    ToolOptions,
    ToolStarted,
    tool,
)
from loopspan.testing import Answer, Captured, ScriptedModel, calls, message
from tests.loop.held import holding
from tests.loop.ways import loop_of


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> None:
    """Fail."""
    raise ValueError("no")


@tool
def hang() -> None:
    """Never return."""
    threading.Event().wait()


TOOLS: list[Tool] = [add, fail, hang]
ASKING = message(
    "Let me see.", tool_calls=[("add", {"a": 1, "b": 2}), ("fail", {}), ("unknown", {})]
)
ONCE = RetryPolicy(attempts=1)


def run(captured: Captured, *answers: Answer, **options: Any) -> None:
    loop = loop_of(ScriptedModel(answers), TOOLS, captured, retry=ONCE)
    with contextlib.suppress(LoopspanError):
        loop.run("Go on.", options=ToolOptions(**options))


def answer(captured: Captured) -> None:
    run(captured, ASKING, ASKING, "Done.")


def max_rounds(captured: Captured) -> None:
    run(captured, ASKING, "Done.", max_rounds=1)


def cut(captured: Captured) -> None:
    run(captured, message("Do", finish_reason="length"))


def blocked(captured: Captured) -> None:
    run(captured, message("", finish_reason="content_filter"))


def bad_ending(captured: Captured) -> None:
    run(captured, message("", finish_reason="error"))


def budget(captured: Captured) -> None:
    run(captured, ASKING, budget=Budget(tokens=1))


def provider_error(captured: Captured) -> None:
    run(captured, ASKING, lambda _: httpx.Response(500, json={}))


def not_json(captured: Captured) -> None:
    run(captured, lambda _: httpx.Response(200, content=b"<html>"))


def no_connection(captured: Captured) -> None:
    run(captured, ASKING, httpx.ConnectError("refused"))


def tool_timeout(captured: Captured) -> None:
    run(captured, calls("hang"), "Done.", tool_timeout=0.01)


def programming_error(captured: Captured) -> None:
    with contextlib.suppress(ZeroDivisionError):
        run(captured, ASKING, ZeroDivisionError())


def interrupted(captured: Captured) -> None:
    def interrupt(body: Any) -> Answer:
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        run(captured, ASKING, interrupt)


def dry_run(captured: Captured) -> None:
    loop_of(ScriptedModel([]), TOOLS, captured).run("Go on.", dry_run=True)


def streaming(captured: Captured) -> Iterator[object]:
    return loop_of(ScriptedModel([ASKING, "Hello, you."]), TOOLS, captured).stream("Go on.")


def left_at_a_piece(captured: Captured) -> None:
    next(event for event in streaming(captured) if isinstance(event, TextDelta))


def left_at_a_tool(captured: Captured) -> None:
    next(event for event in streaming(captured) if isinstance(event, ToolStarted))


def collected(captured: Captured) -> None:
    stream = streaming(captured)
    next(stream)
    next(stream)
    del stream
    gc.collect()


def consumer_fails(captured: Captured) -> None:
    loop = loop_of(ScriptedModel([ASKING]), TOOLS, captured)
    with contextlib.suppress(ZeroDivisionError), loop.stream("Go on.") as stream:
        for _ in stream:
            raise ZeroDivisionError


def broken_off(captured: Captured) -> None:
    half = b'data: {"id": "1", "choices": [{"index": 0, "delta": {"content": "He"}}]}\n\n'
    headers = {"content-type": "text/event-stream"}
    model = ScriptedModel([lambda _: httpx.Response(200, headers=headers, content=half)])
    with contextlib.suppress(LoopspanError):
        loop_of(model, TOOLS, captured, retry=ONCE).stream("Go on.").drain()


def task_cancelled_in_a_call(captured: Captured) -> None:
    async def cancel() -> None:
        with holding() as held:
            loop = ToolLoop(held.model, tracer_provider=captured.provider)
            task = asyncio.create_task(loop.arun("Go on."))
            await asyncio.to_thread(held.asked.wait, 30)
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(cancel())


def task_cancelled_in_a_tool(captured: Captured) -> None:
    started = threading.Event()

    @tool
    async def wait() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    async def cancel() -> None:
        model = ScriptedModel([message(tool_calls=[("wait", {}), ("wait", {}), ("hang", {})])])
        task = asyncio.create_task(loop_of(model, [wait, hang], captured).arun("Go on."))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancel())


ENDINGS: dict[Callable[[Captured], None], str] = {
    answer: "completed",
    max_rounds: "max_rounds",
    cut: "length",
    blocked: "blocked",
    bad_ending: "error",
    budget: "budget_tokens",
    provider_error: "error",
    not_json: "error",
    no_connection: "error",
    tool_timeout: "completed",
    programming_error: "error",
    interrupted: "cancelled",
    dry_run: "dry_run",
    left_at_a_piece: "abandoned",
    left_at_a_tool: "abandoned",
    collected: "abandoned",
    consumer_fails: "abandoned",
    broken_off: "error",
    task_cancelled_in_a_call: "cancelled",
    task_cancelled_in_a_tool: "cancelled",
}
"""Each way to end a run, and the outcome that its span must tell."""

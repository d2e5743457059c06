"""Cases CT-03, CT-04: an async stream that is closed by another task, cancelled or left alone."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from loopspan import AsyncRunStream, RetryPolicy, StreamEvent, ToolLoop, ToolOptions, tool
from loopspan.testing import Captured, ScriptedModel, calls, capture
from tests.loop.held import Held, holding
from tests.loop.ways import loop_of

CLIENTS = ("httpx", "httpcore")


def noise(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged at any level, but for what the HTTP client and asyncio tell of themselves."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name.partition(".")[0] not in CLIENTS
        and not record.getMessage().startswith("Using selector")
    ]


def outcomes(captured: Captured) -> list[object]:
    return [(span.attributes or {}).get("loopspan.outcome") for span in captured.spans]


async def consumed(stream: AsyncRunStream, enough: asyncio.Event, count: int) -> list[StreamEvent]:
    """Consume a stream and tell when so many events have come."""
    events = []
    try:
        async for event in stream:
            events.append(event)
            if len(events) == count:
                enough.set()
    finally:
        enough.set()
    return events


async def closed(stream: AsyncRunStream, consumer: asyncio.Task[list[StreamEvent]]) -> None:
    await stream.aclose()
    assert len(await consumer) == 3


async def cancelled(stream: AsyncRunStream, consumer: asyncio.Task[list[StreamEvent]]) -> None:
    consumer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consumer


@pytest.mark.parametrize(("end", "outcome"), [(closed, "abandoned"), (cancelled, "cancelled")])
def test_ct03_another_task_ends_a_stream(
    end: Callable[[AsyncRunStream, asyncio.Task[list[StreamEvent]]], Awaitable[None]],
    outcome: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)

    async def run(loop: ToolLoop) -> None:
        stream, third = loop.astream("Hi"), asyncio.Event()
        consumer = asyncio.create_task(consumed(stream, third, 3))
        await third.wait()
        await end(stream, consumer)

    with capture() as captured, holding("Hel", "lo") as held:
        asyncio.run(run(ToolLoop(held.model, tracer_provider=captured.provider)))
        assert held.left.wait(30)

    assert outcomes(captured) == [outcome] * 2
    assert noise(caplog) == []


def test_ct03_a_stream_is_closed_before_the_provider_answers() -> None:
    async def run(held: Held, captured: Captured) -> list[StreamEvent]:
        stream = ToolLoop(held.model, tracer_provider=captured.provider).astream("Hi")
        consumer = asyncio.create_task(consumed(stream, asyncio.Event(), 0))
        await asyncio.to_thread(held.asked.wait, 30)
        await stream.aclose()
        return await consumer

    with capture() as captured, holding() as held:
        assert len(asyncio.run(run(held, captured))) == 1
        assert held.left.wait(30)

    assert outcomes(captured) == ["abandoned"] * 2


def test_ct03_an_answer_that_comes_after_the_close_is_closed_too() -> None:
    class Late(httpx.AsyncByteStream):
        closed = False

        def __aiter__(self) -> AsyncIterator[bytes]:
            raise AssertionError("nobody reads it")

        async def aclose(self) -> None:
            self.closed = True

    async def run() -> None:
        asked, answer, late = asyncio.Event(), asyncio.Event(), Late()

        async def handle(request: httpx.Request) -> httpx.Response:
            asked.set()
            await answer.wait()
            return httpx.Response(200, stream=late)

        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as client:
            stream = ToolLoop(ScriptedModel([]).model, async_client=client).astream("Hi")
            consumer = asyncio.create_task(consumed(stream, asyncio.Event(), 0))
            await asked.wait()
            await stream.aclose()
            answer.set()
            await consumer
            assert late.closed

    asyncio.run(run())


def test_ct03_a_stream_is_closed_while_a_thread_runs_a_tool() -> None:
    started, release = threading.Event(), threading.Event()

    @tool
    def wait() -> None:
        """Wait until the test is over."""
        started.set()
        release.wait()

    async def run(stream: AsyncRunStream) -> None:
        consumer = asyncio.create_task(consumed(stream, asyncio.Event(), 0))
        await asyncio.to_thread(started.wait, 30)
        await stream.aclose()
        ended, _ = await asyncio.wait([consumer], timeout=30)
        assert ended

    options = ToolOptions(tool_timeout=None)
    with capture() as captured:
        loop = loop_of(ScriptedModel([calls("wait")]), [wait], captured)
        try:
            asyncio.run(run(loop.astream("Hi", options=options)))
        finally:
            release.set()

    assert outcomes(captured) == [None, "abandoned", "abandoned"]


def test_ct03_a_stream_is_closed_while_it_waits_to_try_again() -> None:
    refused = asyncio.Event()

    def refuse(body: object) -> httpx.Response:
        refused.set()
        return httpx.Response(429, headers={"retry-after": "3600"}, json={})

    async def run(stream: AsyncRunStream) -> None:
        consumer = asyncio.create_task(consumed(stream, asyncio.Event(), 0))
        await refused.wait()
        await stream.aclose()
        await consumer

    with capture() as captured:
        retry = RetryPolicy(max_delay=7200)
        loop = loop_of(ScriptedModel([refuse]), [], captured, retry=retry)
        asyncio.run(run(loop.astream("Hi")))

    assert outcomes(captured) == ["abandoned"] * 2


async def steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("count", range(4))
def test_ct04_a_stream_is_left_by_break(count: int, caplog: pytest.LogCaptureFixture) -> None:
    """Its connection is closed all the same, also where the program ends some steps later."""
    caplog.set_level(0)

    async def run(loop: ToolLoop) -> None:
        left = 2
        async for _ in loop.astream("Hi"):
            left -= 1
            if not left:
                break
        await steps(count)

    with capture() as captured, holding("Hel", "lo") as held:
        asyncio.run(run(ToolLoop(held.model, tracer_provider=captured.provider)))
        gc.collect()  # what is not closed says so now
        assert held.left.wait(30)

    assert outcomes(captured) == ["abandoned"] * 2
    assert noise(caplog) == []


def test_ct04_a_stream_is_left_by_break_and_the_program_goes_on() -> None:
    async def run(loop: ToolLoop) -> None:
        left = 2
        async for _ in loop.astream("Hi"):
            left -= 1
            if not left:
                break
        await asyncio.to_thread(held.left.wait, 30)
        await steps(10)
        gc.collect()  # what is not closed says so now

    with capture() as captured, holding("Hel", "lo") as held:
        asyncio.run(run(ToolLoop(held.model, tracer_provider=captured.provider)))

    assert outcomes(captured) == ["abandoned"] * 2


def test_ct04_a_stream_is_left_by_break_within_its_with(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)

    async def run(loop: ToolLoop) -> None:
        async with loop.astream("Hi") as stream:
            async for event in stream:
                if getattr(event, "content", None) == "Hel":
                    break

    with capture() as captured, holding("Hel", "lo") as held:
        asyncio.run(run(ToolLoop(held.model, tracer_provider=captured.provider)))
        assert held.left.wait(30)

    assert outcomes(captured) == ["abandoned"] * 2
    assert noise(caplog) == []


def test_ct04_a_stream_outlives_its_event_loop(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)

    async def started(loop: ToolLoop) -> AsyncRunStream:
        stream = loop.astream("Hi")
        await anext(stream)
        return stream

    with capture() as captured:
        stream = asyncio.run(started(loop_of(ScriptedModel(["Hello."]), [], captured)))
        del stream
        gc.collect()

    assert outcomes(captured) == ["abandoned"]
    assert noise(caplog) == []

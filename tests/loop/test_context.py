"""Cases CT-06, CT-07, SL-05: what a run's spans hang under, what hangs under them."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import StatusCode

from loopspan import ConfigurationError, InvalidRequestError, Tool, ToolOptions, tool
from loopspan.testing import Captured, ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of


def children(captured: Captured) -> dict[str, str | None]:
    """Each span's name and that of its parent."""
    names = {span.context.span_id: span.name for span in captured.spans if span.context}
    return {s.name: names[s.parent.span_id] if s.parent else None for s in captured.spans}


def work(captured: Captured, name: str) -> None:
    """Open a span as instrumented code does."""
    with captured.provider.get_tracer("app").start_as_current_span(name):
        pass


def in_thread(captured: Captured) -> Tool:
    @tool
    def look() -> str:
        """Look."""
        work(captured, "of the tool")
        return "x"

    return look


def in_loop(captured: Captured) -> Tool:
    @tool
    async def look() -> str:
        """Look."""
        await asyncio.sleep(0)
        work(captured, "of the tool")
        return "x"

    return look


@each_way
@pytest.mark.parametrize("made", [in_thread, in_loop])
def test_ct06_a_tools_own_span_hangs_under_its_call(
    way: Way, made: Callable[[Captured], Tool]
) -> None:
    with capture() as captured:
        way(loop_of(ScriptedModel([calls("look"), "Done."]), [made(captured)], captured))

    assert children(captured) == {
        "of the tool": "execute_tool look",
        "execute_tool look": "invoke_agent",
        "chat scripted-1": "invoke_agent",
        "invoke_agent": None,
    }


@each_way
def test_a_span_of_the_http_client_hangs_under_its_call(way: Way) -> None:
    with capture() as captured:

        def handle(body: Any) -> str:
            work(captured, "POST")
            return "Hello."

        way(loop_of(ScriptedModel([handle]), [], captured))

    assert children(captured) == {
        "POST": "chat scripted-1",
        "chat scripted-1": "invoke_agent",
        "invoke_agent": None,
    }


@each_way
def test_tools_see_the_callers_context(way: Way) -> None:
    seen: list[object] = []

    @tool
    def thread() -> None:
        """Look from a thread."""
        seen.append(baggage.get_baggage("tenant"))

    @tool
    async def task() -> None:
        """Look from a task."""
        seen.append(baggage.get_baggage("tenant"))

    model = ScriptedModel([message(tool_calls=[("thread", {}), ("task", {})]), "Done."])
    token = context.attach(baggage.set_baggage("tenant", "a"))
    try:
        way(loop_of(model, [thread, task]))
    finally:
        context.detach(token)

    assert seen == ["a", "a"]


@each_way
def test_ct07_who_it_is_for_is_on_every_span(way: Way) -> None:
    options = ToolOptions(
        conversation_id="c-1",
        session_id="s-1",
        user_id="ann",
        metadata={"team": "search", "release": "7"},
    )
    model = ScriptedModel([message(tool_calls=[("add", {"a": 1}), ("add", {"a": 2})]), "Done."])

    @tool
    def add(a: int) -> int:
        """Add."""
        return a

    with capture() as captured:
        result = way(loop_of(model, [add], captured), options=options)

    expected = {
        "loopspan.run.id": result.run_id,
        "gen_ai.conversation.id": "c-1",
        "session.id": "s-1",
        "user.id": "ann",
        "loopspan.metadata.team": "search",
        "loopspan.metadata.release": "7",
    }
    assert len(captured.spans) == 5
    for span in captured.spans:
        assert expected.items() <= dict(span.attributes or {}).items()


def test_metadata_that_would_swamp_every_span_is_refused() -> None:
    options = ToolOptions(metadata={f"key{n}": "x" for n in range(21)})
    with pytest.raises(ConfigurationError, match="metadata has 21 keys"):
        loop_of(ScriptedModel([])).run("Hi", options=options)


def outer(provider: TracerProvider, use: Callable[[], Any]) -> ReadableSpan:
    """Use the loop within a span of the application, and go on with that afterwards."""
    with provider.get_tracer("app").start_as_current_span("request") as span:
        use()
        assert trace.get_current_span() is span
        assert span.is_recording()
        span.set_attribute("later", True)
        span.add_event("later")
        assert isinstance(span, ReadableSpan)
        return span


@each_way
@pytest.mark.parametrize(
    "last", [lambda _: "Hello.", lambda _: httpx.Response(400, json={})], ids=["answer", "error"]
)
def test_sl05_the_callers_span_is_left_alone(way: Way, last: Any) -> None:
    with capture() as captured:
        loop = loop_of(ScriptedModel([last]), [], captured)

        def use() -> None:
            with contextlib.suppress(InvalidRequestError):
                way(loop)

        span = outer(captured.provider, use)

    assert (span.name, span.status.status_code) == ("request", StatusCode.UNSET)
    assert dict(span.attributes or {}) == {"later": True}
    assert [event.name for event in span.events] == ["later"]
    assert children(captured)["invoke_agent"] == "request"


def test_no_span_of_a_stream_is_current_where_it_is_consumed() -> None:
    @tool
    def look() -> None:
        """Look."""

    with capture() as captured:
        loop = loop_of(ScriptedModel([calls("look"), "Done."]), [look], captured)
        tracer = captured.provider.get_tracer("app")
        with tracer.start_as_current_span("request") as span, loop.stream("Hi") as stream:
            for _ in stream:
                assert trace.get_current_span() is span
                work(captured, "of the consumer")

    assert children(captured)["of the consumer"] == "request"


def test_no_span_of_an_async_stream_is_current_where_it_is_consumed() -> None:
    @tool
    async def look() -> None:
        """Look."""

    async def consume(captured: Captured) -> None:
        loop = loop_of(ScriptedModel([calls("look"), "Done."]), [look], captured)
        tracer = captured.provider.get_tracer("app")
        with tracer.start_as_current_span("request") as span:
            async with loop.astream("Hi") as stream:
                async for _ in stream:
                    assert trace.get_current_span() is span
                    work(captured, "of the consumer")

    with capture() as captured:
        asyncio.run(consume(captured))

    assert children(captured)["of the consumer"] == "request"

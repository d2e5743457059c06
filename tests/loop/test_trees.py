"""The whole trace of each kind of run."""

import asyncio
import threading
from typing import Any

import httpx
import pytest

from loopspan import (
    Configuration,
    InvalidRequestError,
    TextDelta,
    ToolOptions,
    ToolStarted,
    tool,
)
from loopspan.testing import Captured, ScriptedModel, calls, capture, message, span_tree
from tests.loop.ways import Way, each_unstreamed_way, each_way, loop_of

TIMES = ("gen_ai.response.time_to_first_chunk",)
ESTIMATES = (
    "loopspan.context.estimated_tokens",
    "loopspan.context.calibrated",
)
ADDING = Configuration(name="adder", description="Adds.", system_prompt="Be exact.")


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def tree(captured: Captured) -> dict[str, Any]:
    left_out = ("loopspan.run.id", "loopspan.prompt.parts", *TIMES, *ESTIMATES)
    [root] = span_tree(captured.spans, without=left_out)
    return root


def node(
    name: str,
    attributes: dict[str, Any],
    *children: dict[str, Any],
    status: str = "UNSET",
    events: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "CLIENT" if name.startswith("chat ") else "INTERNAL",
        "status": status,
        "attributes": dict(sorted(attributes.items())),
        "events": list(events),
        "children": list(children),
    }


def run_span(outcome: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The span of a run of `ADDING`; `more` are its totals and what else it has."""
    status = more.pop("status", "UNSET")
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "adder",
        "gen_ai.agent.description": "Adds.",
        "gen_ai.request.model": "scripted-1",
        "loopspan.content": more.pop("content", "off"),
        "loopspan.max_rounds": more.pop("max_rounds", 5),
        "loopspan.outcome": outcome,
        "loopspan.rounds": more.pop("rounds", 1),
        "loopspan.tool_calls": more.pop("tool_calls", 0),
        **more,
    }
    return node("invoke_agent adder", attributes, *children, status=status)


def chat_span(round: int, offset: int, more: dict[str, Any], **settings: Any) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted-1",
        "server.address": "scripted.invalid",
        "server.port": 80,
        "loopspan.round": round,
        "loopspan.input.offset": offset,
        **more,
    }
    return node("chat scripted-1", attributes, **settings)


def answered(number: int, reason: str, raw: str, **more: Any) -> dict[str, Any]:
    return {
        "gen_ai.response.id": f"chatcmpl-{number}",
        "gen_ai.response.model": "scripted-1",
        "gen_ai.response.finish_reasons": [reason],
        "loopspan.response.finish_reason.raw": raw,
        "gen_ai.usage.input_tokens": 10 * number,
        "gen_ai.usage.output_tokens": 5,
        "loopspan.cost.missing": "no price",
        **more,
    }


def tool_span(round: int, id: str, **more: Any) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.agent.name": "adder",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": id,
        "loopspan.round": round,
        "loopspan.tool.outcome": "ok",
    }
    return node("execute_tool add", attributes | more)


def totals(given: int, answered: int) -> dict[str, Any]:
    return {
        "loopspan.usage.input_tokens": given,
        "loopspan.usage.output_tokens": answered,
        "loopspan.cost.missing": "no price",
    }


def streaming(way: Way) -> dict[str, Any]:
    return {"gen_ai.request.stream": True} if "stream" in way.__name__ else {}


@each_way
def test_a_plain_answer(way: Way) -> None:
    with capture() as captured:
        way(loop_of(ScriptedModel(["Hello."]), [], captured, configuration=ADDING))

    assert tree(captured) == run_span(
        "completed",
        chat_span(1, 0, answered(1, "stop", "stop") | streaming(way)),
        **totals(10, 5),
    )


@each_way
def test_two_rounds_with_parallel_tools_and_their_content(way: Way) -> None:
    asking = message(
        "Let me see.", tool_calls=[("add", {"a": n, "b": 1}, f"call_{n}") for n in (1, 2)]
    )
    with capture() as captured:
        loop = loop_of(
            ScriptedModel([asking, "2, 3"]), [add], captured, configuration=ADDING, content="full"
        )
        way(loop, "1 + 1, 2 + 1?")

    def part(n: int) -> dict[str, Any]:
        call = {"type": "tool_call", "name": "add", "arguments": {"a": n, "b": 1}}
        kept = {"openai": {"arguments": f'{{"a": {n}, "b": 1}}'}}
        return {**call, "id": f"call_{n}", "extra": kept}

    def response(n: int) -> dict[str, Any]:
        told = {"loopspan.result_of": "execute_tool add", "bytes": 1}
        result = {"type": "tool_call_response", "response": told}
        return {"role": "tool", "parts": [{**result, "id": f"call_{n}", "name": "add"}]}

    first = {
        "gen_ai.input.messages": [
            {"role": "system", "parts": [{"type": "text", "content": "Be exact."}]},
            {"role": "user", "parts": [{"type": "text", "content": "1 + 1, 2 + 1?"}]},
        ],
        "gen_ai.output.messages": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "Let me see."}, part(1), part(2)],
                "finish_reason": "tool_call",
            }
        ],
        "gen_ai.tool.definitions": [add.definition.to_json()],
        "loopspan.tools.round": 1,
    }
    second = {
        "gen_ai.input.messages": [response(1), response(2)],
        "gen_ai.output.messages": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "2, 3"}],
                "finish_reason": "stop",
            }
        ],
        "loopspan.tools.round": 1,
    }
    described = {"gen_ai.tool.description": "Add two numbers."}
    assert tree(captured) == run_span(
        "completed",
        chat_span(1, 0, answered(1, "tool_call", "tool_calls") | first | streaming(way)),
        *(
            tool_span(
                1,
                f"call_{n}",
                **described,
                **{
                    "gen_ai.tool.call.arguments": {"a": n, "b": 1},
                    "gen_ai.tool.call.result": {"result": str(n + 1)},
                },
            )
            for n in (1, 2)
        ),
        chat_span(2, 3, answered(2, "stop", "stop") | second | streaming(way)),
        rounds=2,
        tool_calls=2,
        content="full",
        **totals(30, 10),
    )


@each_way
def test_the_bound_of_rounds_with_the_closing_call(way: Way) -> None:
    model = ScriptedModel([calls("add", a=1, b=2, id="call_1"), "3, I think."])
    with capture() as captured:
        way(
            loop_of(model, [add], captured, configuration=ADDING),
            options=ToolOptions(max_rounds=1),
        )

    assert tree(captured) == run_span(
        "max_rounds",
        chat_span(1, 0, answered(1, "tool_call", "tool_calls") | streaming(way)),
        tool_span(1, "call_1"),
        chat_span(2, 3, answered(2, "stop", "stop") | streaming(way)),
        rounds=2,
        max_rounds=1,
        tool_calls=1,
        **totals(30, 10),
    )


@each_way
def test_a_provider_error(way: Way) -> None:
    refusal = httpx.Response(400, content=b'{"error": {"message": "a secret", "code": "bad"}}')
    model = ScriptedModel([calls("add", a=1, b=2, id="call_1"), lambda _: refusal])
    with capture() as captured, pytest.raises(InvalidRequestError):
        way(loop_of(model, [add], captured, configuration=ADDING))

    failed = {"error.type": "400"}
    assert tree(captured) == run_span(
        "error",
        chat_span(1, 0, answered(1, "tool_call", "tool_calls") | streaming(way)),
        tool_span(1, "call_1"),
        chat_span(2, 3, failed | streaming(way), status="ERROR", events=("exception",)),
        rounds=2,
        tool_calls=1,
        status="ERROR",
        **failed,
        **totals(10, 5),
    )
    *_, chat, run = captured.spans
    assert chat.status.description == run.status.description == "openai answered 400 (bad)"
    assert dict(chat.events[0].attributes or {}) == {
        "exception.type": "loopspan.errors.InvalidRequestError"
    }


def test_an_abandoned_stream() -> None:
    with capture() as captured:
        loop = loop_of(ScriptedModel(["Hello, you there."]), [], captured, configuration=ADDING)
        with loop.stream("Hi") as stream:
            for event in stream:
                if isinstance(event, TextDelta):
                    break

    left = {
        "loopspan.outcome": "abandoned",
        "gen_ai.request.stream": True,
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "scripted-1",
        "loopspan.cost.missing": "no usage reported",
    }
    assert tree(captured) == run_span(
        "abandoned",
        chat_span(1, 0, left),
        **{"loopspan.cost.missing": "no usage reported"},
    )


@each_unstreamed_way
def test_a_cancelled_run(way: Way) -> None:
    started = threading.Event()

    @tool
    async def wait() -> None:
        """Never return."""
        started.set()
        await asyncio.Event().wait()

    model = ScriptedModel([calls("wait", id="call_1")])
    with capture() as captured:
        loop = loop_of(model, [wait], captured, configuration=ADDING)

        async def cancelled() -> None:
            task = asyncio.create_task(loop.arun("Hi"))
            await asyncio.to_thread(started.wait, 30)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())

    ended = {"error.type": "cancelled", "loopspan.outcome": "cancelled"}
    waiting = tool_span(1, "call_1", **ended, **{"loopspan.tool.outcome": "cancelled"})
    waiting["name"], waiting["status"] = "execute_tool wait", "ERROR"
    waiting["attributes"]["gen_ai.tool.name"] = "wait"
    waiting["attributes"] = dict(sorted(waiting["attributes"].items()))
    assert tree(captured) == run_span(
        "cancelled",
        chat_span(1, 0, answered(1, "tool_call", "tool_calls")),
        waiting,
        tool_calls=1,
        status="ERROR",
        **{"error.type": "cancelled"},
        **totals(10, 5),
    )


def test_a_tool_call_that_was_only_announced() -> None:
    with capture() as captured:
        model = ScriptedModel([calls("add", a=1, b=2, id="call_1")])
        loop = loop_of(model, [add], captured, configuration=ADDING)
        with loop.stream("Hi") as stream:
            next(event for event in stream if isinstance(event, ToolStarted))

    abandoned = {"loopspan.outcome": "abandoned", "loopspan.tool.outcome": "abandoned"}
    assert tree(captured) == run_span(
        "abandoned",
        chat_span(1, 0, answered(1, "tool_call", "tool_calls") | {"gen_ai.request.stream": True}),
        tool_span(1, "call_1", **abandoned),
        tool_calls=1,
        **totals(10, 5),
    )

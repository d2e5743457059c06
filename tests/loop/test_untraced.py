"""Rule 8 of the loop: tracing changes nothing, whether it is on, off, sampled out or not there."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler, TraceIdRatioBased
from opentelemetry.trace import NoOpTracerProvider

from loopspan import Configuration, InvalidRequestError, RunResult, ToolOptions, tool
from loopspan.runs import RequestStep
from loopspan.testing import Answer, ScriptedModel, message
from tests.loop.ways import Way, each_way, loop_of

Wire = list[tuple[str, str, list[tuple[bytes, bytes]], bytes]]


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def fail() -> str:
    """Fail."""
    raise ValueError("no")


ASKING = message(
    "Let me see.", tool_calls=[("add", {"a": 1, "b": 2}, "call_1"), ("fail", {}, "call_2")]
)


def refusing(body: Any) -> Answer:
    return httpx.Response(400, json={"error": {"message": "no", "code": "bad"}})


def recorded(model: ScriptedModel) -> Wire:
    """All that goes over the wire from now on: method, address, headers and body."""
    wire: Wire = []

    def note(request: httpx.Request) -> None:
        wire.append((request.method, str(request.url), request.headers.raw, request.content))

    async def note_async(request: httpx.Request) -> None:
        note(request)

    model.client.event_hooks = {"request": [note]}
    model.async_client.event_hooks = {"request": [note_async]}
    return wire


def sampled(sampler: Sampler) -> TracerProvider:
    return TracerProvider(sampler=sampler, shutdown_on_exit=False)


SETTINGS: dict[str, Callable[[], dict[str, Any]]] = {
    "no-provider": dict,
    "no-op": lambda: {"tracer_provider": NoOpTracerProvider()},
    "always-off": lambda: {"tracer_provider": sampled(ALWAYS_OFF)},
    "rc05-ratio": lambda: {"tracer_provider": sampled(TraceIdRatioBased(0.1))},
    "capture-off": lambda: {"tracer_provider": TracerProvider(shutdown_on_exit=False)},
    "capture-full": lambda: {
        "tracer_provider": TracerProvider(shutdown_on_exit=False),
        "content": "full",
        "messages": "full",
    },
}


def made(way: Way, last: Answer, settings: dict[str, Any]) -> tuple[Wire, RunResult]:
    model = ScriptedModel([ASKING, last])
    wire = recorded(model)
    configuration = Configuration(name="adder", system_prompt="Be exact.")
    loop = loop_of(model, [add, fail], configuration=configuration, **settings)
    options = ToolOptions(user_id="ann", metadata={"team": "a"})
    try:
        return wire, way(loop, "1 + 2 👋 \ud800", options=options)
    except InvalidRequestError as error:
        result: RunResult = error.result
        return wire, result


@each_way
@pytest.mark.parametrize("last", ["3 😀", refusing], ids=["answer", "error"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_rc05_the_wire_and_the_result_are_those_of_an_untraced_run(
    way: Way, last: Answer, setting: str
) -> None:
    untraced_wire, untraced = made(way, last, {})
    wire, result = made(way, last, SETTINGS[setting]())

    assert len(wire) == 2
    assert wire == untraced_wire
    assert (result.outcome, result.messages) == (untraced.outcome, untraced.messages)
    assert (result.content, result.rounds, result.tool_calls, result.usage, result.cost_usd) == (
        untraced.content,
        untraced.rounds,
        untraced.tool_calls,
        untraced.usage,
        untraced.cost_usd,
    )
    assert (type(result.error), str(result.error)) == (type(untraced.error), str(untraced.error))


@each_way
@pytest.mark.parametrize("setting", SETTINGS)
def test_raw_capture_does_not_change_the_wire(way: Way, setting: str) -> None:
    def wire(options: ToolOptions, settings: dict[str, Any]) -> Wire:
        model = ScriptedModel(["Hello."])
        wire = recorded(model)
        way(loop_of(model, [add], **settings), options=options)
        return wire

    settings = SETTINGS[setting]()
    assert wire(ToolOptions().with_capture_raw(), settings) == wire(ToolOptions(), {})


@pytest.mark.parametrize("setting", ["no-provider", "no-op", "always-off"])
def test_rc05_a_run_that_nobody_records_has_a_record_all_the_same(setting: str) -> None:
    model = ScriptedModel([ASKING, "3"])
    loop = loop_of(model, [add, fail], content="full", **SETTINGS[setting]())
    run = asyncio.run(loop.arun("1 + 2")).run

    kinds = [step.kind for step in run.steps]
    assert kinds == ["request", "chat", "tool", "tool", "request", "chat"]
    assert (run.outcome, run.content, run.usage.total_tokens) == ("completed", "3", 40)
    request = run.steps[4]
    assert isinstance(request, RequestStep)
    told = [m["parts"][0]["response"] for m in request.messages or () if m["role"] == "tool"]
    assert told == ["3", "Error: The tool failed."]

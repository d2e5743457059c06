"""Whole runs of the demo model: the adapter, the loop, the endpoint."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from loopspan import (
    AuthenticationError,
    ConfigurationError,
    Parameters,
    ReasoningDelta,
    RetryPolicy,
    ServerError,
    TextDelta,
    ToolLoop,
    ToolOptions,
    connect,
    tool,
)
from loopspan.builtin import builtin_tools
from loopspan.demo import Demo, stop
from loopspan.errors import NotFoundError
from loopspan.testing import capture
from tests.loop.ways import Way, each_streamed_way, each_way

PROMPT = "What time is it, and which Python is this?"


@tool
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@tool
def divide(a: float, b: float) -> float:
    """Divide a number by another."""
    return a / b


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().endswith(("_KEY", "_PROXY", "_HOST", "_URL")):
            monkeypatch.delenv(name)


@pytest.fixture
def stopped() -> Iterator[None]:
    stop()
    yield
    stop()


@pytest.mark.parametrize("spec", ["demo:", "demo:demo-1"])
def test_model_needs_no_environment(spec: str) -> None:
    model = connect(spec)
    assert (model.spec, model.key) == ("demo:demo-1", None)
    assert (model.endpoint().provider, model.endpoint().address) == ("demo", "127.0.0.1")


@each_way
def test_built_in_tools_in_two_rounds(way: Way) -> None:
    result = way(ToolLoop("demo:", builtin_tools()), PROMPT)
    assert (result.outcome, result.rounds, result.tool_calls) == ("completed", 2, 2)
    asked = [call.name for message in result.messages for call in message.tool_calls]
    assert asked == ["current_time", "python_information"]
    assert result.content is not None
    assert "current_time says: time is " in result.content
    assert "python_information says: version is " in result.content
    assert result.cost_usd == 0.0
    assert (result.usage.input_tokens or 0) > (result.usage.cache_read_input_tokens or 0) > 0


@each_way
def test_plain_answer(way: Way) -> None:
    result = way(ToolLoop("demo:"), "Hello")
    assert (result.outcome, result.rounds) == ("completed", 1)
    assert result.content is not None
    assert result.content.startswith("This is demo-1")


@each_way
def test_failing_tool_is_told(way: Way) -> None:
    result = way(ToolLoop("demo:", [add, divide]), "Add 1 and 2, then divide 1 by 0")
    assert result.content == "add says: 3.0.\ndivide failed: The tool failed."


@each_way
def test_endless_loop_meets_max_rounds(way: Way) -> None:
    result = way(ToolLoop("demo:", [add]), "Loop forever", options=ToolOptions(max_rounds=3))
    assert (result.outcome, result.tool_calls) == ("max_rounds", 3)
    assert result.content == "add says: 2.0."


@each_way
def test_refusal_is_blocked(way: Way) -> None:
    assert way(ToolLoop("demo:"), "refuse").outcome == "blocked"


@each_way
def test_limit_of_tokens(way: Way) -> None:
    options = ToolOptions(parameters=Parameters(max_tokens=5))
    result = way(ToolLoop("demo:"), "Hello", options=options)
    assert (result.outcome, result.usage.output_tokens) == ("length", 5)


@each_way
def test_rate_limit_is_retried_at_once(way: Way) -> None:
    with capture() as captured:
        loop = ToolLoop("demo:", [add], tracer_provider=captured.provider)
        result = way(loop, "fail with 429, then add 1 and 2")
    assert (result.outcome, result.content) == ("completed", "add says: 3.0.")
    events = [event.name for span in captured.spans for event in span.events]
    assert events == ["loopspan.retry"]


@each_way
def test_server_error_is_raised(way: Way) -> None:
    with pytest.raises(ServerError, match="The prompt asked for the status 500"):
        way(ToolLoop("demo:", retry=RetryPolicy(attempts=1)), "fail with 500")


@each_way
def test_required_tool(way: Way) -> None:
    options = ToolOptions(tool_choice="add")
    result = way(ToolLoop("demo:", [add, divide]), "7 and 8", options=options)
    assert result.content == "add says: 15.0."


@each_streamed_way
def test_thinking_is_streamed(way: Way) -> None:
    result = way(ToolLoop("demo:"), "Think of me")
    assert result.messages[-1].reasoning.startswith("The user says")


def test_answer_is_streamed_in_pieces() -> None:
    with ToolLoop("demo:").stream("Think of me") as stream:
        events = list(stream)
        result = stream.result
    pieces = [event.content for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 10
    assert "".join(pieces) == result.content
    assert any(isinstance(event, ReasoningDelta) for event in events)


def test_many_runs_at_once() -> None:
    loop = ToolLoop("demo:", [add])

    async def together() -> list[str | None]:
        runs = [loop.arun(f"Add {n} and 1") for n in range(30)]
        return [result.content for result in await asyncio.gather(*runs)]

    assert asyncio.run(together()) == [f"add says: {n + 1}.0." for n in range(30)]


def test_wrong_key_and_unknown_model_are_errors() -> None:
    with pytest.raises(AuthenticationError):
        ToolLoop("demo:", key="wrong").run("Hello")
    with pytest.raises(NotFoundError, match="this endpoint has `demo-1`"):
        ToolLoop("demo:demo-2").run("Hello")


def test_token_goes_to_no_other_server() -> None:
    loop = ToolLoop("demo:", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigurationError, match="leave base_url out"):
        loop.run("Hello")


def test_token_is_in_no_span_and_no_text() -> None:
    with capture() as captured:
        loop = ToolLoop("demo:", tracer_provider=captured.provider, content="full")
        loop.run("Hello", options=ToolOptions().with_capture_raw())
    token = Demo().headers(None)["authorization"].removeprefix("Bearer ")
    assert len(token) > 30
    assert token not in "".join(span.to_json() for span in captured.spans)
    assert token not in repr(loop.model) + repr(vars(loop.model.adapter))


def test_model_outlives_its_endpoint(stopped: None) -> None:
    loop = ToolLoop("demo:")
    stop()
    assert loop.run("Hello").outcome == "completed"


def test_dry_run_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = ToolLoop("demo:", [add])
    monkeypatch.setattr("loopspan.demo.handler.Handler._serve", lambda self: pytest.fail("sent"))
    assert loop.run("Add 1 and 2", dry_run=True).outcome == "dry_run"

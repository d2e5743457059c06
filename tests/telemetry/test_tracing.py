"""Spans of a loop of one's own: they are those that our loop would have made."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider

from loopspan import ConfigurationError, LoopTracer, ToolLoop, tool
from loopspan.runs import ChatStep, Run, read_runs
from loopspan.runs.otlp import spans
from loopspan.testing import Captured, ScriptedModel, calls, capture, span_tree

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "temperature",
            "description": "Get the temperature.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
]


def answer(message: Mapping[str, Any], number: int, reason: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted-1",
        "choices": [{"index": 0, "message": dict(message), "finish_reason": reason}],
        "usage": {"prompt_tokens": 10 * number, "completion_tokens": 5},
    }


CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "temperature", "arguments": '{"city": "Oslo"}'},
}
ASKED = answer({"role": "assistant", "content": None, "tool_calls": [CALL]}, 1, "tool_calls")
ANSWERED = answer({"role": "assistant", "content": "It is 21 degrees."}, 2, "stop")


def by_hand(tracer: LoopTracer) -> str:
    """A loop as people write it around an SDK's bodies."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "How warm is it in Oslo?"}]
    with tracer.invoke_agent(model="scripted-1", max_rounds=5) as run:
        for reply in (ASKED, ANSWERED):
            body = {"model": "scripted-1", "messages": [*messages], "tools": TOOLS}
            with run.chat("openai", body, base_url="http://scripted.invalid/v1") as chat:
                chat.reply(reply)
            message = reply["choices"][0]["message"]
            messages.append(message)
            for call in message.get("tool_calls", ()):
                name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
                said = "Get the temperature."
                with run.execute_tool(name, given, id=call["id"], description=said) as used:
                    text = used.result("21 degrees")
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return run.run_id


def as_sent(value: Any) -> Any:
    """Without what does not go over the wire: the name of a tool beside its result."""
    match value:
        case {"type": "tool_call_response"}:
            return {k: v for k, v in value.items() if k != "name"}
        case dict():
            return {k: as_sent(v) for k, v in value.items()}
        case list():
            return [as_sent(v) for v in value]
        case _:
            return value


def only(captured: Captured) -> Run:
    [run] = captured.run_trace.runs()
    return run


@pytest.mark.parametrize("content", ["off", "metadata", "full"])
def test_the_spans_are_those_of_our_own_loop(content: Any) -> None:
    @tool
    def temperature(city: str) -> str:
        """Get the temperature."""
        return "21 degrees"

    with capture() as ours:
        model = ScriptedModel([calls("temperature", id="c1", city="Oslo"), "It is 21 degrees."])
        ToolLoop(
            model.model,
            [temperature],
            client=model.client,
            tracer_provider=ours.provider,
            content=content,
            messages="full",
        ).run("How warm is it in Oslo?")
    with capture() as own:
        by_hand(LoopTracer(own.provider, content=content, messages="full"))
    left_out = {
        "loopspan.run.id",
        "loopspan.prompt.parts",
        "loopspan.context.estimated_tokens",
        "loopspan.context.calibrated",
        "loopspan.context.window",
        "loopspan.context.window.source",
    }
    assert as_sent(span_tree(own.spans, without=left_out)) == as_sent(
        span_tree(ours.spans, without=left_out)
    )


def test_the_run_is_in_a_run_trace() -> None:
    with capture() as captured:
        run_id = by_hand(LoopTracer(captured.provider, content="full"))
    run = only(captured)
    assert run.run_id == run_id
    assert [step.kind for step in run.steps] == ["request", "chat", "tool", "request", "chat"]
    assert (run.outcome, run.rounds, run.tool_calls) == ("completed", 2, 1)
    assert (run.usage.input_tokens, run.usage.output_tokens) == (30, 10)
    assert run.content == "It is 21 degrees."


def test_what_a_program_traces_itself_hangs_below() -> None:
    with capture() as captured:
        mine = captured.provider.get_tracer("mine")
        with LoopTracer(captured.provider).invoke_agent("a") as run:
            with run.chat("openai", {"model": "m", "messages": []}):
                mine.start_span("POST").end()
            with run.execute_tool("look") as used:
                mine.start_span("SELECT").end()
                used.result({"error": "none there"})
        assert not trace.get_current_span().is_recording()
    [root] = span_tree(captured.spans)
    assert [
        (child["name"], [below["name"] for below in child["children"]])
        for child in root["children"]
    ] == [("chat m", ["POST"]), ("execute_tool look", ["SELECT"])]
    assert root["children"][1]["attributes"]["loopspan.tool.outcome"] == "returned_error"


def test_pi_01_an_instrumented_sdk_inside_makes_no_second_run() -> None:
    """PI-01: tokens count once where the SDK that a loop of one's own calls tells of them too."""
    with capture() as captured:
        sdk = captured.provider.get_tracer("sdk")
        told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        with LoopTracer(captured.provider).invoke_agent() as run:
            for reply in (ASKED, ANSWERED):
                with run.chat("openai", {"model": "m", "messages": []}) as chat:
                    with sdk.start_as_current_span("chat m", attributes=told) as span:
                        span.set_attribute("gen_ai.usage.input_tokens", 10)
                    chat.reply(reply)
    assert only(captured).usage.input_tokens == 30
    [read] = read_runs(spans(MessageToDict(encode_spans(captured.spans))))
    assert read == only(captured)


def failing(tracer: LoopTracer) -> None:
    with tracer.invoke_agent() as run:
        with pytest.raises(ValueError, match="bad"), run.execute_tool("look"):
            raise ValueError("bad")
        with run.chat("openai", {"model": "m", "messages": []}):
            raise OSError("gone")


def test_what_goes_wrong_is_told_and_raised() -> None:
    with capture() as captured, pytest.raises(OSError, match="gone"):
        failing(LoopTracer(captured.provider, content="full"))
    told = only(captured)
    assert (told.outcome, told.error and told.error.type) == ("error", "OSError")
    assert [step.state for step in told.steps] == ["error", "ok", "error"]


def test_a_cancelled_run_says_so() -> None:
    async def cancelled(tracer: LoopTracer) -> None:
        begun = asyncio.Event()

        async def one() -> None:
            with tracer.invoke_agent() as run, run.execute_tool("wait"):
                begun.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(one())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with capture() as captured:
        asyncio.run(cancelled(LoopTracer(captured.provider)))
    told = only(captured)
    assert (told.outcome, told.steps[0].state) == ("cancelled", "cancelled")


@pytest.mark.parametrize(("outcome", "truncated"), [("max_rounds", True), ("blocked", False)])
def test_a_run_can_say_how_it_ended(outcome: str, truncated: bool) -> None:
    with capture() as captured, LoopTracer(captured.provider).invoke_agent() as run:
        run.outcome = outcome
    told = only(captured)
    assert (told.outcome, told.truncated) == (outcome, truncated)


@pytest.mark.parametrize("odd", [{}, {"model": 7, "messages": "no"}, {"messages": [1]}])
def test_a_body_that_cannot_be_read_harms_nothing(
    odd: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture() as captured:
        monkeypatch.setattr("loopspan.telemetry.spans.strict", False)
        tracer = LoopTracer(captured.provider, content="full")
        with tracer.invoke_agent() as run, run.chat("anthropic", odd) as chat:
            assert chat.reply(odd) is None
    assert only(captured).outcome == "completed"
    assert "a span could not be recorded" in caplog.text


def test_an_unknown_provider_is_told() -> None:
    run = LoopTracer(TracerProvider(shutdown_on_exit=False)).invoke_agent()
    with run, pytest.raises(ConfigurationError, match="provider 'opnai' is unknown"):
        run.chat("opnai", {})


def test_a_tool_that_is_never_recorded() -> None:
    with capture() as captured:
        tracer = LoopTracer(captured.provider, content="full", unrecorded_tools=["temperature"])
        by_hand(tracer)
    for span in captured.spans:
        told = span.to_json()
        assert "21 degrees" not in told.replace("It is 21 degrees.", "")
        assert "Oslo\\\\" not in told
    with pytest.raises(ConfigurationError, match="capture_raw keeps whole bodies"):
        LoopTracer(unrecorded_tools=["temperature"], capture_raw=True)


def test_raw_bodies_and_the_first_chunk() -> None:
    with capture() as captured:
        tracer = LoopTracer(captured.provider, content="full", capture_raw=True)
        body = {"model": "m", "messages": []}
        with tracer.invoke_agent() as run, run.chat("openai", body) as chat:
            chat.first_chunk()
            chat.reply(ANSWERED)
    [_, step] = only(captured).steps
    assert isinstance(step, ChatStep)
    assert step.raw is not None
    assert json.loads(step.raw.response or "") == ANSWERED
    assert step.time_to_first_chunk_ms is not None


def test_without_a_provider_nothing_happens() -> None:
    assert len(by_hand(LoopTracer(TracerProvider(shutdown_on_exit=False)))) == 32
    assert len(by_hand(LoopTracer())) == 32

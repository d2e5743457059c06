"""Messages in events: of the current conventions, of older ones, and listed in an attribute."""

import json
from dataclasses import replace
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from loopspan.runs import ChatStep, RequestStep, Run, RunTrace, read_runs
from tests.runs.foreign.conventions import pydantic_ai_events
from tests.runs.foreign.dialogue import CURRENT_SENT

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "name": "temperature",
        "parameters": {"type": "object", "required": ["city"], "properties": {"city": {}}},
    }
]
NESTED: dict[str, Any] = {"cities": ["Oslo", {"near": ["Bergen"]}]}
CALL: dict[str, Any] = {"type": "tool_call", "id": "c1", "name": "temperature", "arguments": NESTED}


def test_an_event_with_structures_is_read_as_json_would_be() -> None:
    """Events of `gen_ai.client.inference.operation.details` hold structures, whose lists the
    SDK makes tuples: model/gen-ai/events.yaml of semantic-conventions-genai at 6fd0d763a092."""
    provider = TracerProvider()
    kept = RunTrace()
    provider.add_span_processor(kept)
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
    with provider.get_tracer("test").start_as_current_span("chat gpt-4o", attributes=told) as span:
        span.add_event(
            "gen_ai.client.inference.operation.details",
            {
                "gen_ai.system_instructions": CURRENT_SENT[0]["parts"],
                "gen_ai.input.messages": CURRENT_SENT[1:2],
                "gen_ai.output.messages": [{"role": "assistant", "parts": [CALL]}],
                "gen_ai.tool.definitions": TOOLS,
                "gen_ai.response.finish_reasons": ["tool_call"],
                "gen_ai.request.stop_sequences": ["END"],
                "gen_ai.usage.input_tokens": 3,
            },
        )
    run = kept.runs()[0]
    request, chat = run.steps
    assert isinstance(request, RequestStep)
    assert isinstance(chat, ChatStep)
    assert list(request.messages or ()) == CURRENT_SENT[:2]
    assert list(request.tools or ()) == TOOLS
    assert request.parameters == {"stop_sequences": ["END"]}
    assert chat.tool_calls is not None
    assert [call.arguments for call in chat.tool_calls] == [NESTED]
    assert (chat.finish_reason, chat.usage.input_tokens) == ("tool_call", 3)
    assert Run.model_validate_json(run.model_dump_json()) == run


def answered(*messages: dict[str, object]) -> ChatStep:
    agent, first, *_ = pydantic_ai_events()
    events = json.loads(first.attributes["events"])[:-1]
    events += [{"index": 0, "message": m, "event.name": "gen_ai.choice"} for m in messages]
    told = {**first.attributes, "events": json.dumps(events)}
    [run] = read_runs([agent, replace(first, attributes=told)])
    chat = run.steps[1]
    assert isinstance(chat, ChatStep)
    return chat


def test_an_answer_in_several_events_is_one() -> None:
    """pydantic-ai 0.x began a new event with each further text (`ModelResponse.otel_events`)."""
    chat = answered(
        {"role": "assistant", "content": "It is "}, {"role": "assistant", "content": "warm."}
    )
    assert chat.content == "It is warm."


def test_parts_are_told_by_their_kind() -> None:
    """pydantic-ai 1.0: `{'kind': part_kind, 'text': content}` for each text and thought."""
    thought = {"kind": "thinking", "text": "Hm."}
    chat = answered({"role": "assistant", "content": [thought, {"kind": "text", "text": "Warm."}]})
    assert (chat.thinking, chat.content) == ("Hm.", "Warm.")


def test_parts_without_their_text_were_not_captured() -> None:
    chat = answered({"role": "assistant", "content": [{"kind": "text"}]})
    assert chat.content is None
    assert {m.field: m.why for m in chat.missing}["content"] == "not_captured"

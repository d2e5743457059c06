"""The dialogue in the conventions, as they are, as they were, and as pydantic-ai writes them."""

import json
from dataclasses import replace

from loopspan.telemetry.record import SpanEvent, SpanRecord
from tests.runs.foreign.dialogue import (
    ANSWER,
    ARGUMENTS,
    CURRENT_CALL,
    CURRENT_SENT,
    JSON,
    OPENAI_CALL,
    OPENAI_SENT,
    RESULT,
    SYSTEM,
    record,
)

_CONTENT = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions")


def pydantic_ai() -> list[SpanRecord]:
    def chat(number: int, sent: int, answer: JSON, reason: str) -> SpanRecord:
        return record(
            number,
            "chat gpt-4o",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.system": "openai",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
                "gen_ai.input.messages": json.dumps(CURRENT_SENT[1:sent]),
                "gen_ai.output.messages": json.dumps([{**answer, "finish_reason": reason}]),
                "gen_ai.response.finish_reasons": (reason,),
                "gen_ai.usage.input_tokens": 10 * number,
                "gen_ai.usage.output_tokens": 5,
                "operation.cost": 0.01,
            },
        )

    return [
        record(
            1,
            "agent run",
            {"agent_name": "w", "gen_ai.usage.input_tokens": 60, "logfire.msg": "w run"},
            parent=None,
        ),
        chat(2, 2, {"role": "assistant", "parts": [CURRENT_CALL]}, "tool_call"),
        record(
            3,
            "running tool",
            {
                "gen_ai.tool.name": "temperature",
                "gen_ai.tool.call.id": "c1",
                "tool_arguments": json.dumps(ARGUMENTS),
                "tool_response": RESULT,
            },
        ),
        chat(
            4,
            4,
            {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]},
            "stop",
        ),
    ]


def older_events() -> list[SpanRecord]:
    """OpenTelemetry's own before 1.37: an event for each message."""

    def chat(number: int, sent: int, choice: JSON) -> SpanRecord:
        events: list[tuple[str, JSON]] = [
            (f"gen_ai.{each['role']}.message", {"gen_ai.event.content": json.dumps(each)})
            for each in OPENAI_SENT[:sent]
        ]
        events.append(("gen_ai.choice", {"gen_ai.event.content": json.dumps(choice)}))
        return record(
            number,
            "chat gpt-4o",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.system": "openai",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.usage.input_tokens": 10 * number,
                "gen_ai.usage.output_tokens": 5,
            },
            events=events,
        )

    called = {"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [OPENAI_CALL]}}
    answered = {"index": 0, "finish_reason": "stop", "message": {"content": ANSWER}}
    return [
        record(1, "invoke_agent w", {"gen_ai.operation.name": "invoke_agent"}, parent=None),
        chat(2, 2, called),
        record(
            3,
            "execute_tool temperature",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "temperature",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": json.dumps(ARGUMENTS),
                "gen_ai.tool.call.result": RESULT,
            },
        ),
        chat(4, 4, answered),
    ]


def pydantic_ai_events() -> list[SpanRecord]:
    """pydantic-ai's `InstrumentationSettings(version=1)`: all events in one attribute.

    `messages_to_otel_events` and `handle_messages` in pydantic_ai/models/instrumented.py, 1.0.
    """

    def chat(span: SpanRecord, sent: int, answer: JSON) -> SpanRecord:
        events = [
            {
                "gen_ai.system": "openai",
                "gen_ai.message.index": index,
                **({**told, "id": "c1", "name": "temperature"} if "tool_call_id" in told else told),
                "event.name": f"gen_ai.{told['role']}.message",
            }
            for index, told in enumerate(OPENAI_SENT[:sent])
        ]
        for event in events:
            event.pop("tool_call_id", None)
        choice = {"index": 0, "message": answer, "event.name": "gen_ai.choice"}
        kept = {k: v for k, v in span.attributes.items() if k not in _CONTENT}
        return replace(span, attributes={**kept, "events": json.dumps([*events, choice])})

    agent, first, tool, second = pydantic_ai()
    called = {"role": "assistant", "tool_calls": [OPENAI_CALL]}
    return [
        agent,
        chat(first, 2, called),
        tool,
        chat(second, 4, {"role": "assistant", "content": ANSWER}),
    ]


def details_event() -> list[SpanRecord]:
    """The current conventions with the content in an event."""
    spans = []
    for span in pydantic_ai():
        kept = dict(span.attributes)
        moved: JSON = {name: json.loads(kept.pop(name)) for name in _CONTENT if name in kept}
        event = SpanEvent("gen_ai.client.inference.operation.details", span.started_at, moved)
        spans.append(replace(span, attributes=kept, events=(event,) if moved else ()))
    return spans

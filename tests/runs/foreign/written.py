"""One and the same dialogue as each instrumentation writes it: a call, its result, the answer."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from loopspan.telemetry.record import SpanEvent, SpanRecord

JSON = dict[str, Any]
TRACE = "0af7651916cd43dd8448eb211c80319c"
ASKED = "How warm is it in Oslo?"
ARGUMENTS = {"city": "Oslo"}
RESULT = "21 degrees"
ANSWER = "It is 21 degrees."
SYSTEM = "Be brief."


def record(
    number: int,
    name: str,
    attributes: Mapping[str, Any],
    *,
    parent: int | None = 1,
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
    failed: bool = False,
) -> SpanRecord:
    """A span of 100 ms that starts at its number of seconds."""
    start = number * 1_000_000_000
    return SpanRecord(
        name=name,
        trace_id=TRACE,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        started_at=start,
        ended_at=start + 100_000_000,
        attributes=attributes,
        events=tuple(SpanEvent(n, start, a) for n, a in events),
        status="error" if failed else "unset",
    )


OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "temperature", "arguments": json.dumps(ARGUMENTS)},
}
OPENAI_SENT: list[JSON] = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": RESULT},
]
CURRENT_CALL = {"type": "tool_call", "id": "c1", "name": "temperature", "arguments": ARGUMENTS}
CURRENT_SENT: list[JSON] = [
    {"role": "system", "parts": [{"type": "text", "content": SYSTEM}]},
    {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
    {"role": "assistant", "parts": [CURRENT_CALL]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": RESULT}]},
]


def openinference() -> list[SpanRecord]:
    def said(prefix: str, messages: Sequence[JSON]) -> JSON:
        told: JSON = {}
        for n, each in enumerate(messages):
            at = f"{prefix}.{n}.message"
            told[f"{at}.role"] = each["role"]
            if each.get("content") is not None:
                told[f"{at}.content"] = each["content"]
            if "tool_call_id" in each:
                told[f"{at}.tool_call_id"] = each["tool_call_id"]
            for k, call in enumerate(each.get("tool_calls", ())):
                inner = f"{at}.tool_calls.{k}.tool_call"
                told[f"{inner}.id"] = call["id"]
                told[f"{inner}.function.name"] = call["function"]["name"]
                told[f"{inner}.function.arguments"] = call["function"]["arguments"]
        return told

    def llm(number: int, sent: int, answer: JSON) -> SpanRecord:
        counts = {"llm.token_count.prompt": 10 * number, "llm.token_count.completion": 5}
        return record(
            number,
            "ChatCompletion",
            {
                "openinference.span.kind": "LLM",
                "llm.model_name": "gpt-4o",
                "llm.provider": "openai",
                "llm.finish_reason": "tool_calls" if "tool_calls" in answer else "stop",
                "llm.cost.total": 0.01,
                "llm.tools.0.tool.json_schema": json.dumps(
                    {"type": "function", "function": {"name": "temperature", "parameters": {}}}
                ),
                **counts,
                **said("llm.input_messages", OPENAI_SENT[:sent]),
                **said("llm.output_messages", [answer]),
            },
        )

    return [
        record(1, "agent", {"openinference.span.kind": "AGENT", "agent.name": "w"}, parent=None),
        llm(2, 2, {"role": "assistant", "tool_calls": [OPENAI_CALL]}),
        record(
            3,
            "temperature",
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "temperature",
                "tool.id": "c1",
                "tool.parameters": json.dumps(ARGUMENTS),
                "output.value": RESULT,
            },
        ),
        llm(4, 4, {"role": "assistant", "content": ANSWER}),
    ]


def openllmetry() -> list[SpanRecord]:
    def said(prefix: str, messages: Sequence[JSON]) -> JSON:
        told: JSON = {}
        for n, each in enumerate(messages):
            told[f"{prefix}.{n}.role"] = each["role"]
            for name in ("content", "finish_reason", "tool_call_id"):
                if each.get(name) is not None:
                    told[f"{prefix}.{n}.{name}"] = each[name]
            for k, call in enumerate(each.get("tool_calls", ())):
                told[f"{prefix}.{n}.tool_calls.{k}.id"] = call["id"]
                told[f"{prefix}.{n}.tool_calls.{k}.name"] = call["function"]["name"]
                told[f"{prefix}.{n}.tool_calls.{k}.arguments"] = call["function"]["arguments"]
        return told

    def llm(number: int, sent: int, answer: JSON) -> SpanRecord:
        return record(
            number,
            "openai.chat",
            {
                "llm.request.type": "chat",
                "gen_ai.system": "openai",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.usage.prompt_tokens": 10 * number,
                "gen_ai.usage.completion_tokens": 5,
                "llm.request.functions.0.name": "temperature",
                "llm.request.functions.0.parameters": "{}",
                **said("gen_ai.prompt", OPENAI_SENT[:sent]),
                **said("gen_ai.completion", [answer]),
            },
        )

    return [
        record(
            1,
            "w.agent",
            {"traceloop.span.kind": "agent", "traceloop.entity.name": "w"},
            parent=None,
        ),
        llm(
            2, 2, {"role": "assistant", "finish_reason": "tool_calls", "tool_calls": [OPENAI_CALL]}
        ),
        record(
            3,
            "temperature.tool",
            {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "temperature",
                "traceloop.entity.input": json.dumps(ARGUMENTS),
                "traceloop.entity.output": RESULT,
            },
        ),
        llm(4, 4, {"role": "assistant", "finish_reason": "stop", "content": ANSWER}),
    ]


def langfuse() -> list[SpanRecord]:
    def generation(number: int, sent: int, answer: JSON) -> SpanRecord:
        return record(
            number,
            "generation",
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.model.name": "gpt-4o",
                "langfuse.observation.input": json.dumps(OPENAI_SENT[:sent]),
                "langfuse.observation.output": json.dumps(answer),
                "langfuse.observation.usage_details": json.dumps(
                    {"input": 10 * number - 4, "input_cached_tokens": 4, "output": 5}
                ),
                "langfuse.observation.cost_details": json.dumps({"total": 0.01}),
            },
        )

    return [
        record(1, "agent", {"langfuse.observation.type": "agent"}, parent=None),
        generation(2, 2, {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}),
        record(
            3,
            "temperature",
            {
                "langfuse.observation.type": "tool",
                "langfuse.observation.input": json.dumps(ARGUMENTS),
                "langfuse.observation.output": RESULT,
            },
        ),
        generation(4, 4, {"role": "assistant", "content": ANSWER}),
    ]


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


def vercel() -> list[SpanRecord]:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "temperature", "input": ARGUMENTS}
    result = {"type": "text", "value": RESULT}
    sent: list[JSON] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": [{"type": "text", "text": ASKED}]},
        {"role": "assistant", "content": [call]},
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "temperature",
                    "output": result,
                }
            ],
        },
    ]

    def generate(number: int, count: int, answer: JSON, reason: str) -> SpanRecord:
        return record(
            number,
            "ai.generateText.doGenerate",
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.model.id": "gpt-4o",
                "ai.model.provider": "openai",
                "ai.prompt.messages": json.dumps(sent[:count]),
                "ai.response.finishReason": reason,
                "ai.usage.inputTokens": 10 * number,
                "ai.usage.outputTokens": 5,
                "ai.stream.msToFirstChunk": 250,
                **answer,
            },
        )

    calls = json.dumps([{k: v for k, v in call.items() if k != "type"}])
    return [
        record(1, "ai.generateText", {"ai.operationId": "ai.generateText"}, parent=None),
        generate(2, 2, {"ai.response.toolCalls": calls}, "tool-calls"),
        record(
            3,
            "ai.toolCall",
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "temperature",
                "ai.toolCall.id": "c1",
                "ai.toolCall.args": json.dumps(ARGUMENTS),
                "ai.toolCall.result": RESULT,
            },
        ),
        generate(4, 4, {"ai.response.text": ANSWER}, "stop"),
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


def details_event() -> list[SpanRecord]:
    """The current conventions with the content in an event."""
    spans = []
    for span in pydantic_ai():
        kept = dict(span.attributes)
        moved: JSON = {
            name: json.loads(kept.pop(name))
            for name in (
                "gen_ai.input.messages",
                "gen_ai.output.messages",
                "gen_ai.system_instructions",
            )
            if name in kept
        }
        event = SpanEvent("gen_ai.client.inference.operation.details", span.started_at, moved)
        spans.append(
            SpanRecord(
                span.name,
                span.trace_id,
                span.span_id,
                span.parent_id,
                span.started_at,
                span.ended_at,
                kept,
                (event,) if moved else (),
            )
        )
    return spans


WRITERS = (
    openinference,
    openllmetry,
    langfuse,
    pydantic_ai,
    vercel,
    older_events,
    details_event,
)

"""The dialogue as the instrumentations with names of their own write it."""

import json
from collections.abc import Sequence

from loopspan.telemetry.record import SpanRecord
from tests.runs.foreign.dialogue import (
    ANSWER,
    ARGUMENTS,
    ASKED,
    JSON,
    OPENAI_CALL,
    OPENAI_SENT,
    RESULT,
    SYSTEM,
    record,
)


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

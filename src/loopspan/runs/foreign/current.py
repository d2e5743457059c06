"""One span of another instrumentation, in the names and shapes of the current conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from loopspan.jsontext import dump_text
from loopspan.runs.foreign.events import answered_in, sent_in, told_events
from loopspan.runs.foreign.messages import JSON, definitions, indexed, messages, parsed, plain
from loopspan.runs.foreign.names import ALIASES, HIDDEN, KINDS, OPERATIONS, PROVIDERS, REASONS
from loopspan.runs.foreign.parameters import say_parameters
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanEvent, SpanRecord


def current(span: SpanRecord) -> SpanRecord:
    """Return the span with current names beside its own; messages are whole lists."""
    told = {k: plain(v) for k, v in span.attributes.items() if v != HIDDEN}
    for event in span.events:
        if event.name == names.DETAILS_EVENT:
            told = {k: plain(v) for k, v in event.attributes.items()} | told
    _rename(told)
    _say_operation(told, span.name)
    match told.get(names.OPERATION_NAME):
        case names.CHAT:
            say_parameters(told)
            _say_first_chunk(told, span.started_at)
            _say_messages(told, told_events(span))
            _say_reason(told)
            _say_usage(told)
        case names.EXECUTE_TOOL:
            _say_call(told, span.name)
        case names.INVOKE_AGENT:
            for name in (names.USAGE_INPUT_TOKENS, names.USAGE_OUTPUT_TOKENS, names.COST_USD):
                told.pop(name, None)  # sums of what the chats below tell
            told.setdefault(names.AGENT_NAME, told.get("traceloop.entity.name"))
    _say_error(told, span)
    return replace(span, attributes={k: v for k, v in told.items() if v is not None})


def _rename(told: dict[str, Any]) -> None:
    for name, others in ALIASES.items():
        if name not in told:
            found = next((told[other] for other in others if other in told), None)
            if found is not None:
                told[name] = found
    provider = told.get(names.PROVIDER_NAME)
    if isinstance(provider, str):
        told[names.PROVIDER_NAME] = PROVIDERS.get(provider.lower(), provider)
    reasons = parsed(told.get(names.RESPONSE_FINISH_REASONS))
    if isinstance(reasons, str):
        reasons = (reasons,)
    if isinstance(reasons, Sequence):
        told[names.RESPONSE_FINISH_REASONS] = tuple(map(str, reasons))
    for name in ("ai.response.msToFirstChunk", "ai.stream.msToFirstChunk"):
        if isinstance(late := told.get(name), int | float):
            told.setdefault(names.RESPONSE_TIME_TO_FIRST_CHUNK, late / 1000)


def _say_first_chunk(told: dict[str, Any], started_at: int) -> None:
    """Langfuse tells the time of day at which the answer began."""
    began = parsed(told.get("langfuse.observation.completion_start_time"))
    try:
        moment = datetime.fromisoformat(began if isinstance(began, str) else "")
    except ValueError:
        return
    if moment.tzinfo is not None and (late := moment.timestamp() - started_at / 1e9) >= 0:
        told.setdefault(names.RESPONSE_TIME_TO_FIRST_CHUNK, late)


def _say_operation(told: dict[str, Any], span_name: str) -> None:
    operation = told.get(names.OPERATION_NAME)
    if isinstance(operation, str):
        told[names.OPERATION_NAME] = OPERATIONS.get(operation, operation)
        return
    for attribute, meant in KINDS.items():
        kind = told.get(attribute)
        found = meant.get(str(kind)) or meant.get(str(kind).upper())
        if found:
            told[names.OPERATION_NAME] = found
            return
    if span_name.startswith("running tool"):
        told[names.OPERATION_NAME] = names.EXECUTE_TOOL
    elif span_name.endswith("agent run"):
        told[names.OPERATION_NAME] = names.INVOKE_AGENT
    elif names.REQUEST_MODEL in told and _has_messages(told):
        told[names.OPERATION_NAME] = names.CHAT


def _has_messages(told: Mapping[str, Any]) -> bool:
    return any(key.startswith(("gen_ai.prompt.", "llm.input_messages.")) for key in told)


def _say_messages(told: dict[str, Any], events: Sequence[SpanEvent]) -> None:
    instructions = messages(
        [{"role": "system", "parts": parts}]
        if (parts := parsed(told.pop(names.SYSTEM_INSTRUCTIONS, None)))
        else None,
        "system",
    )
    sent = _sent(told, events)
    if sent is not None:
        told[names.INPUT_MESSAGES] = [*instructions, *sent]
    answered = _answered(told, events)
    if answered is not None:
        told[names.OUTPUT_MESSAGES] = answered
        reasons = [m["finish_reason"] for m in answered if "finish_reason" in m]
        if reasons:
            told.setdefault(names.RESPONSE_FINISH_REASONS, tuple(reasons))
    tools = parsed(told.get(names.TOOL_DEFINITIONS)) or parsed(told.get("ai.prompt.tools"))
    tools = tools or indexed(told, "llm.tools") or indexed(told, "llm.request.functions")
    tools = tools or _pydantic_tools(parsed(told.get("model_request_parameters")))
    if isinstance(tools, Sequence) and not isinstance(tools, str) and tools:
        told[names.TOOL_DEFINITIONS] = definitions(tools)


def _pydantic_tools(told: Any) -> list[Any]:
    """Return the tools that pydantic-ai lists among the parameters of its model."""
    lists = ("function_tools", "output_tools")
    found = [told.get(name) for name in lists] if isinstance(told, Mapping) else []
    return [tool for each in found if isinstance(each, list) for tool in each]


def _sent(told: Mapping[str, Any], events: Sequence[SpanEvent]) -> list[JSON] | None:
    """Return what was sent; `None` where nobody tells. A cut JSON text stays as it is."""
    if names.INPUT_MESSAGES in told:
        own = parsed(told[names.INPUT_MESSAGES])
        return None if isinstance(own, str) else messages(own, "user")
    for prefix in ("llm.input_messages", "gen_ai.prompt"):
        if found := indexed(told, prefix):
            return messages(found, "user")
    if found := sent_in(events):
        return found
    for name in ("ai.prompt.messages", "ai.prompt", "gen_ai.prompt"):
        if name in told:
            return messages(told[name], "user")
    for name in ("langfuse.observation.input", "input.value", "traceloop.entity.input"):
        if name in told:
            return messages(told[name], "user")
    return None


def _answered(told: Mapping[str, Any], events: Sequence[SpanEvent]) -> list[JSON] | None:
    if names.OUTPUT_MESSAGES in told:
        own = parsed(told[names.OUTPUT_MESSAGES])
        return None if isinstance(own, str) else messages(own, "assistant")
    for prefix in ("llm.output_messages", "gen_ai.completion"):
        if found := indexed(told, prefix):
            return messages(found, "assistant")
    if found := answered_in(events):
        return found
    if any(key.startswith("ai.response.") for key in told):
        return [_vercel(told)]
    for event in events:
        if event.name == "gen_ai.content.completion":
            return messages(event.attributes.get("gen_ai.completion"), "assistant")
    for name in ("gen_ai.completion", "langfuse.observation.output", "output.value"):
        if name in told:
            return messages(told[name], "assistant")
    return None


def _vercel(told: Mapping[str, Any]) -> JSON:
    text = told.get("ai.response.text") or told.get("ai.response.object")
    return messages(
        [
            {
                "role": "assistant",
                "reasoning": told.get("ai.response.reasoning"),
                "content": [{"type": "text", "text": text}] if text else [],
                "tool_calls": [
                    {
                        "id": each.get("toolCallId"),
                        "name": each.get("toolName"),
                        "arguments": each.get("input", each.get("args")),
                    }
                    for each in parsed(told.get("ai.response.toolCalls")) or ()
                    if isinstance(each, Mapping)
                ],
            }
        ],
        "assistant",
    )[0]


def _say_reason(told: dict[str, Any]) -> None:
    """The conventions' word for why an answer ended, and the provider's own beside it."""
    match told.get(names.RESPONSE_FINISH_REASONS):
        case [str(raw), *_] as reasons:
            told.setdefault(names.FINISH_REASON_RAW, raw)
            plain = (str(each).lower() for each in reasons)
            told[names.RESPONSE_FINISH_REASONS] = tuple(REASONS.get(r, r) for r in plain)


def _say_usage(told: dict[str, Any]) -> None:
    """Langfuse counts cached tokens and reasoning apart; the conventions include them."""
    details = parsed(told.get("langfuse.observation.usage_details"))
    if isinstance(details, Mapping):
        count = {k: v for k, v in details.items() if isinstance(v, int)}
        read, written = count.get("input_cached_tokens"), count.get("input_cache_creation")
        thought = count.get("output_reasoning_tokens")
        if "input" in count:
            told.setdefault(names.USAGE_INPUT_TOKENS, count["input"] + (read or 0) + (written or 0))
        if "output" in count:
            told.setdefault(names.USAGE_OUTPUT_TOKENS, count["output"] + (thought or 0))
        for name, value in (
            (names.USAGE_CACHE_READ, read),
            (names.USAGE_CACHE_WRITE, written),
            (names.USAGE_REASONING, thought),
        ):
            if value is not None:
                told.setdefault(name, value)
    costs = parsed(told.get("langfuse.observation.cost_details"))
    if isinstance(costs, Mapping) and isinstance(costs.get("total"), int | float):
        told.setdefault(names.COST_USD, costs["total"])


def _say_call(told: dict[str, Any], span_name: str) -> None:
    for name, others in (
        (names.TOOL_CALL_ARGUMENTS, ("input.value", "traceloop.entity.input")),
        (names.TOOL_CALL_RESULT, ("output.value", "traceloop.entity.output")),
    ):
        langfuse = f"langfuse.observation.{'input' if 'arguments' in name else 'output'}"
        found = next((told[other] for other in (*others, langfuse) if other in told), None)
        told.setdefault(name, found)
    result = told[names.TOOL_CALL_RESULT]
    if result is not None and not isinstance(result, str):
        told[names.TOOL_CALL_RESULT] = dump_text(result)
    if names.TOOL_NAME not in told:
        entity = told.get("traceloop.entity.name")
        told[names.TOOL_NAME] = entity or span_name.removeprefix("execute_tool ")


def _say_error(told: dict[str, Any], span: SpanRecord) -> None:
    """A span that failed says how; older instrumentations do so only in their exception."""
    if span.status != "error" or names.ERROR_TYPE in told:
        return
    kinds = [
        kind
        for event in span.events
        if event.name == names.EXCEPTION_EVENT
        and isinstance(kind := event.attributes.get(names.EXCEPTION_TYPE), str)
    ]
    told[names.ERROR_TYPE] = kinds[-1] if kinds else "_OTHER"

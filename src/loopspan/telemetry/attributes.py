"""What a request, a reply and a tool call look like as span attributes; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from loopspan.jsontext import dump_text
from loopspan.messages import (
    ContextUse,
    Endpoint,
    Message,
    Parameters,
    Reply,
    Request,
    ToolCall,
    Usage,
)
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import (
    NOTHING_TOLD,
    Content,
    Told,
    arguments_text,
    choices_text,
    definitions_text,
    instructions_text,
    messages_text,
    result_text,
)
from loopspan.telemetry.cost import Cost

Attributes: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Delta:
    """What a request adds to what earlier rounds of the run already carry.

    `offset` messages are the same as theirs: all that they carry, or none. `tools_round` is the
    round whose span holds the tool definitions, this one or an earlier one that offered the same.
    """

    offset: int
    tools_round: int


def known_before(known: Sequence[Message], messages: Sequence[Message]) -> int:
    """Return how many messages earlier rounds carry of these: all of `known`, or none.

    A list that was edited or shortened is a base of its own.
    """
    if len(messages) < len(known):
        return 0
    same = all(a is b or a == b for a, b in zip(known, messages, strict=False))
    return len(known) if same else 0


def chat_start(endpoint: Endpoint, request: Request, round: int) -> Attributes:
    """Return what a sampler may want to know of a request; nothing of it is content."""
    attributes: Attributes = {
        names.OPERATION_NAME: names.CHAT,
        names.PROVIDER_NAME: endpoint.provider,
        names.REQUEST_MODEL: request.model,
        names.ROUND: round,
    }
    if endpoint.address:
        attributes[names.SERVER_ADDRESS] = endpoint.address
        if endpoint.port:
            attributes[names.SERVER_PORT] = endpoint.port
    return attributes


def request_attributes(
    endpoint: Endpoint,
    request: Request,
    new: Sequence[Message],
    delta: Delta,
    content: Content,
    told: Told = NOTHING_TOLD,
) -> Attributes:
    """Return the settings of a request, and what is new in it as far as it may be recorded."""
    attributes = parameter_attributes(request.parameters)
    if request.stream:
        attributes[names.REQUEST_STREAM] = True
    attributes[names.INPUT_OFFSET] = delta.offset
    if content != "off":
        attributes |= _content(endpoint, request, new, delta, content, told)
    return attributes


def _content(
    endpoint: Endpoint,
    request: Request,
    new: Sequence[Message],
    delta: Delta,
    content: Content,
    told: Told,
) -> Attributes:
    attributes: Attributes = {}
    if endpoint.system_apart:
        count = next((i for i, m in enumerate(new) if m.role != "system"), len(new))
        if count:
            attributes[names.SYSTEM_INSTRUCTIONS] = instructions_text(new[:count], content)
        new = new[count:]
    attributes[names.INPUT_MESSAGES] = messages_text(new, content, told)
    if request.tools:
        attributes[names.TOOLS_ROUND] = delta.tools_round
    if content == "full" and request.parameters.extra:
        attributes[names.REQUEST_PARAMETERS] = dump_text(request.parameters.extra)
    return attributes


def dry_run_attributes(
    endpoint: Endpoint,
    request: Request,
    body: Mapping[str, Any],
    use: ContextUse,
    content: Content,
) -> Attributes:
    """Return what a dry run shows: what round 1 would carry, and the body that would be sent."""
    attributes = request_attributes(endpoint, request, request.messages, Delta(0, 1), content)
    attributes |= definitions_attribute(request, Delta(0, 1), 1, content)
    attributes |= context_attributes(use)
    attributes[names.PROVIDER_NAME] = endpoint.provider
    if content == "full":
        attributes[names.REQUEST_BODY] = dump_text(body)
    return attributes


def parameter_attributes(parameters: Parameters) -> Attributes:
    """Return the settings that are set, by the conventions' names and types."""
    p = parameters
    doubles = {
        names.REQUEST_TEMPERATURE: p.temperature,
        names.REQUEST_TOP_P: p.top_p,
        names.REQUEST_FREQUENCY_PENALTY: p.frequency_penalty,
        names.REQUEST_PRESENCE_PENALTY: p.presence_penalty,
    }
    others = {
        names.REQUEST_TOP_K: p.top_k,
        names.REQUEST_MAX_TOKENS: p.max_tokens,
        names.REQUEST_SEED: p.seed,
        names.REQUEST_CHOICE_COUNT: None if p.choice_count == 1 else p.choice_count,
        names.REQUEST_REASONING_LEVEL: p.reasoning_level,
        names.REQUEST_STOP_SEQUENCES: p.stop_sequences and [str(s) for s in p.stop_sequences],
    }
    known = {k: float(v) for k, v in doubles.items() if v is not None}
    return {**known, **{k: v for k, v in others.items() if v is not None}}


def reply_attributes(reply: Reply, content: Content) -> Attributes:
    """Return what a reply says of itself, and its messages as far as content may be recorded."""
    optional = {
        names.RESPONSE_ID: reply.response_id,
        names.RESPONSE_MODEL: reply.response_model,
        names.FINISH_REASON_RAW: reply.finish_reason_raw,
    }
    attributes: Attributes = {k: v for k, v in optional.items() if v is not None}
    attributes[names.RESPONSE_FINISH_REASONS] = [c.finish_reason for c in reply.choices]
    attributes |= usage_attributes(reply.usage)
    attributes |= reply.details
    if content != "off":
        attributes[names.OUTPUT_MESSAGES] = choices_text(reply.choices, content)
    return attributes


def usage_attributes(usage: Usage) -> Attributes:
    """Return the counts that were reported; a reported zero is a zero."""
    counts = {
        names.USAGE_INPUT_TOKENS: usage.input_tokens,
        names.USAGE_OUTPUT_TOKENS: usage.output_tokens,
        names.USAGE_CACHE_READ: usage.cache_read_input_tokens,
        names.USAGE_CACHE_WRITE: usage.cache_write_input_tokens,
        names.USAGE_REASONING: usage.reasoning_output_tokens,
    }
    return {k: v for k, v in counts.items() if v is not None}


def context_attributes(use: ContextUse) -> Attributes:
    """Return the estimate of what a request takes of the context window."""
    attributes: Attributes = {names.CONTEXT_TOKENS: use.tokens}
    if use.calibrated:
        attributes[names.CONTEXT_CALIBRATED] = True
    if use.window is not None:
        attributes[names.CONTEXT_WINDOW] = use.window.tokens
        attributes[names.CONTEXT_WINDOW_SOURCE] = use.window.source
    return attributes


def cost_attributes(cost: Cost) -> Attributes:
    """Return a cost and its source, or why there is none."""
    if cost.usd is None:
        return {names.COST_MISSING: cost.missing} if cost.missing else {}
    known: Attributes = {names.COST_USD: cost.usd}
    return {**known, names.COST_SOURCE: cost.source} if cost.source else known


def definitions_attribute(
    request: Request, delta: Delta, round: int, content: Content
) -> Attributes:
    """Return the tool definitions where this round is the first to offer them."""
    if content == "off" or not request.tools or delta.tools_round != round:
        return {}
    return {names.TOOL_DEFINITIONS: definitions_text(request.tools, content)}


def tool_start(call: ToolCall, round: int, agent: str | None) -> Attributes:
    """Return what a sampler may want to know of a tool call."""
    attributes: Attributes = {
        names.OPERATION_NAME: names.EXECUTE_TOOL,
        names.TOOL_NAME: call.name,
        names.TOOL_TYPE: "function",
        names.ROUND: round,
    }
    if call.id is not None:
        attributes[names.TOOL_CALL_ID] = call.id
    if agent:
        attributes[names.AGENT_NAME] = agent
    return attributes


def tool_description(description: str | None, content: Content) -> Attributes:
    """Return what the model was told about the tool, as far as it may be recorded."""
    return {names.TOOL_DESCRIPTION: description} if description and content == "full" else {}


def tool_arguments(call: ToolCall, content: Content) -> Attributes:
    """Return the arguments of a call as far as they may be recorded."""
    if content == "off":
        return {}
    return {names.TOOL_CALL_ARGUMENTS: arguments_text(call.arguments, content)}


def tool_result(text: str, is_object: bool, content: Content) -> Attributes:
    """Return the result of a call as far as it may be recorded."""
    if content == "off":
        return {}
    return {names.TOOL_CALL_RESULT: result_text(text, is_object, content)}


def truncated_attribute(cuts: Mapping[str, tuple[int, int]]) -> Attributes:
    """Return what was cut, from how many bytes to how many."""
    if not cuts:
        return {}
    return {names.TRUNCATED: dump_text({k: {"from": a, "to": b} for k, (a, b) in cuts.items()})}

"""From the spans of one run to its steps, in the order in which they happen.

Spans carry only the messages that are new in their round; the fold keeps the dialogue so far and
gives back the whole list of each round. It works while the run goes on, and over a finished run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from loopspan.runs import values
from loopspan.runs.spans import (
    at_end,
    at_start,
    calls_of,
    context_of,
    cost_source,
    joined,
    missing_of_chat,
    parameters,
    parts_of,
    raw_bodies,
    result_span,
    retry_of,
    token_usage,
    tool_step,
    unknown,
)
from loopspan.runs.steps import (
    AssembledStep,
    ChatStep,
    Reason,
    RequestStep,
    RunStep,
    ToolStep,
)
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

Messages = tuple[dict[str, Any], ...]


class Fold:
    """The dialogue of a run, as far as its spans have told it."""

    def __init__(self) -> None:
        self._known: Messages | None = ()
        self._sent: Messages | None = ()
        self._tools: dict[int, Messages | None] = {}
        self._results: dict[str, str] = {}

    def started(self, span: SpanRecord) -> RunStep | None:
        """Return the step that the start of a span tells."""
        match span.attributes.get(names.OPERATION_NAME):
            case names.CHAT:
                return self._request(span)
            case names.EXECUTE_TOOL:
                return tool_step(span)
            case _:
                return None

    def ended(self, span: SpanRecord) -> RunStep | None:
        """Return the step that the end of a span tells."""
        match span.attributes.get(names.OPERATION_NAME):
            case names.CHAT:
                return self._chat(span)
            case names.EXECUTE_TOOL:
                return self._tool(span)
            case names.INVOKE_AGENT if span.attributes.get(names.OUTCOME) == "dry_run":
                return self._assembled(span)
            case _:
                return None

    def steps(self, spans: Iterable[SpanRecord]) -> tuple[RunStep, ...]:
        """Return the steps of all spans of a run, in the order of their start."""
        found: list[RunStep | None] = []
        for span in sorted(spans, key=lambda s: (s.started_at, s.span_id or "")):
            if span.attributes.get(names.OPERATION_NAME) == names.CHAT:
                found.append(self.started(span))
            if span.ended_at is not None or span.attributes.get(names.TOOL_NAME) is not None:
                found.append(self.ended(span))
        return tuple(step for step in found if step is not None)

    def _messages(self, span: SpanRecord) -> Messages | None:
        """Return the whole list that a request carried."""
        a = span.attributes
        offset = values.integer(a, names.INPUT_OFFSET) or 0
        new = values.objects(a, names.INPUT_MESSAGES)
        instructions = values.objects(a, names.SYSTEM_INSTRUCTIONS) or ()
        if new is None or (offset and (self._known is None or len(self._known) < offset)):
            return None
        head = (self._known or ())[:offset]
        apart = ({"role": "system", "parts": [part]} for part in _as_many(instructions))
        return (*head, *apart, *map(self._resolved, _as_many(new)))

    def _resolved(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message with the results that it refers to put in, as far as they are known."""
        parts = message.get("parts")
        if not isinstance(parts, list) or not any(map(result_span, parts)):
            return message
        return {**message, "parts": [self._with_result(part) for part in parts]}

    def _with_result(self, part: Any) -> Any:
        result = self._results.get(result_span(part) or "")
        return part if result is None else {**part, "response": result}

    def _tool(self, span: SpanRecord) -> ToolStep:
        step = tool_step(span)
        if step.result is not None and span.span_id is not None:
            self._results[span.span_id] = step.result
        return step

    def _definitions(self, span: SpanRecord) -> Messages | None:
        a = span.attributes
        own = values.objects(a, names.TOOL_DEFINITIONS)
        if own is not None:
            round = values.integer(a, names.ROUND)
            if round is not None:
                self._tools[round] = own
            return own
        if names.INPUT_MESSAGES not in a:
            return None
        earlier = values.integer(a, names.TOOLS_ROUND)
        return () if earlier is None else self._tools.get(earlier)

    def _request(self, span: SpanRecord) -> RequestStep:
        a = span.attributes
        messages = self._messages(span)
        self._sent = self._known = messages
        offset = values.integer(a, names.INPUT_OFFSET)
        tools = self._definitions(span)
        why: Reason = "not_captured" if names.INPUT_MESSAGES not in a else "not_recorded"
        sources = {"messages": names.INPUT_MESSAGES, "tools": names.TOOL_DEFINITIONS}
        none = [k for k, v in (("messages", messages), ("tools", tools)) if v is None]
        return RequestStep(
            **at_start(span),
            duration_ms=0.0,
            state="ok",
            provider=values.text(a, names.PROVIDER_NAME),
            model=values.text(a, names.REQUEST_MODEL),
            messages=messages,
            new_from=None if messages is None else offset,
            tools=tools,
            parameters=parameters(a),
            context=context_of(a),
            missing=tuple(unknown(k, why, values.damaged(a, sources[k])) for k in none),
        )

    def _chat(self, span: SpanRecord) -> ChatStep:
        a = span.attributes
        output = values.objects(a, names.OUTPUT_MESSAGES)
        first = output[0] if output else None
        if first is not None and self._sent is not None:
            message = {k: v for k, v in first.items() if k != "finish_reason"}
            self._known = (*self._sent, message)
        parts = parts_of(first)
        usage = token_usage(a)
        cost = values.number(a, names.COST_USD)
        chunk = values.number(a, names.RESPONSE_TIME_TO_FIRST_CHUNK)
        return ChatStep(
            **at_start(span),
            **at_end(span),
            response_model=values.text(a, names.RESPONSE_MODEL),
            content=None if parts is None else joined(parts, "text"),
            thinking=None if parts is None else joined(parts, "reasoning") or None,
            finish_reason=values.first(a, names.RESPONSE_FINISH_REASONS),
            finish_reason_raw=values.text(a, names.FINISH_REASON_RAW),
            tool_calls=None if parts is None else tuple(calls_of(parts)),
            usage=usage,
            cost_usd=cost,
            cost_source=cost_source(a),
            time_to_first_chunk_ms=None if chunk is None else chunk * 1000,
            retries=tuple(retry_of(e) for e in span.events if e.name == names.RETRY_EVENT),
            raw=raw_bodies(span.events),
            missing=missing_of_chat(span, parts, usage, cost),
        )

    def _assembled(self, span: SpanRecord) -> AssembledStep:
        a = span.attributes
        messages = self._messages(span)
        told = values.structure(a, names.REQUEST_BODY)
        body = told if isinstance(told, dict) else None
        tools = values.objects(a, names.TOOL_DEFINITIONS)
        captured = names.INPUT_MESSAGES in a
        none = [k for k, v in (("messages", messages), ("body", body)) if v is None]
        sources = {"messages": names.INPUT_MESSAGES, "body": names.REQUEST_BODY}
        return AssembledStep(
            **(at_start(span) | {"round": None}),
            **at_end(span),
            messages=messages,
            tools=() if tools is None and captured else tools,
            parts=values.objects(a, names.PROMPT_PARTS),
            body=body,
            context=context_of(a),
            missing=tuple(unknown(k, "not_captured", values.damaged(a, sources[k])) for k in none),
        )


def _as_many(told: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield messages or parts, a mark as often as it says that they were left out.

    Later rounds count all of them.
    """
    for item in told:
        count = item.get(names.LEFT_OUT)
        yield from (item,) if not isinstance(count, int) else (item,) * min(count, _MOST_LEFT_OUT)


_MOST_LEFT_OUT = 100_000

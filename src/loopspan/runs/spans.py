"""What a single span tells of a step: its state, its error, its counts, its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loopspan.runs import values
from loopspan.runs.steps import (
    CalledTool,
    Context,
    CostSource,
    Cut,
    Missing,
    RawBodies,
    Reason,
    Retry,
    StepError,
    StepState,
    TokenUsage,
    ToolStep,
)
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanEvent, SpanRecord


def tool_step(span: SpanRecord) -> ToolStep:
    """Return the step of a tool call, open or ended."""
    a = span.attributes
    arguments = values.structure(a, names.TOOL_CALL_ARGUMENTS)
    broken = values.damaged(a, names.TOOL_CALL_ARGUMENTS)
    failed = names.ERROR_TYPE in a
    result = _result(values.text(a, names.TOOL_CALL_RESULT))
    missing = []
    if names.TOOL_CALL_ARGUMENTS not in a:
        missing.append(Missing(field="arguments", why="not_captured"))
    elif broken is not None:
        missing.append(Missing(field="arguments", why="unparsable", detail=broken))
    if result is None and span.ended_at is not None and not failed:
        missing.append(Missing(field="result", why="not_captured"))
    return ToolStep(
        **at_start(span),
        **at_end(span),
        tool_call_id=values.text(a, names.TOOL_CALL_ID),
        name=values.text(a, names.TOOL_NAME) or span.name,
        arguments=_unwrapped(arguments) if broken is None else a[names.TOOL_CALL_ARGUMENTS],
        result=result,
        is_error=failed or a.get(names.TOOL_OUTCOME) == "returned_error",
        refused_by=values.text(a, names.TOOL_REFUSED_BY),
        cut=tuple(_cuts(values.structure(a, names.TRUNCATED))),
        missing=tuple(missing),
    )


def token_usage(a: Mapping[str, Any]) -> TokenUsage:
    """Return the token counts that a span reports."""
    read = values.integer
    given, answered = read(a, names.USAGE_INPUT_TOKENS), read(a, names.USAGE_OUTPUT_TOKENS)
    written = read(a, names.USAGE_CACHE_WRITE)
    return TokenUsage(
        input_tokens=given,
        output_tokens=answered,
        total_tokens=None if given is None or answered is None else given + answered,
        cache_read_input_tokens=read(a, names.USAGE_CACHE_READ),
        cache_write_input_tokens=(
            read(a, names.USAGE_CACHE_CREATION) if written is None else written
        ),
        reasoning_output_tokens=read(a, names.USAGE_REASONING),
    )


def cost_source(a: Mapping[str, Any]) -> CostSource | None:
    """Return where the cost of a span comes from."""
    match a.get(names.COST_SOURCE):
        case "provider":
            return "provider"
        case "table":
            return "table"
        case _:
            return None


def state_of(span: SpanRecord) -> StepState:
    """Return how a span ended."""
    if span.attributes.get(names.OUTCOME) in ("cancelled", "abandoned"):
        return "cancelled"
    if names.ERROR_TYPE in span.attributes or span.status == "error":
        return "error"
    if span.ended_at is not None:
        return "ok"
    return "lost" if span.attributes.get(names.OUTCOME) == "lost" else "open"


def error_of(span: SpanRecord) -> StepError | None:
    """Return the error that ended a span."""
    kind = values.text(span.attributes, names.ERROR_TYPE)
    if kind is None:
        return None
    return StepError(type=kind, message=span.status_message or None)


def milliseconds(span: SpanRecord) -> float | None:
    """Return how long a span took."""
    return None if span.ended_at is None else (span.ended_at - span.started_at) / 1e6


def at_start(span: SpanRecord) -> dict[str, Any]:
    return {
        "round": values.integer(span.attributes, names.ROUND),
        "started_at": span.started_at,
        "span_id": span.span_id,
    }


def at_end(span: SpanRecord) -> dict[str, Any]:
    return {
        "duration_ms": milliseconds(span),
        "state": state_of(span),
        "error": error_of(span),
    }


def context_of(a: Mapping[str, Any]) -> Context | None:
    """Return what a request takes of the context window, where that was estimated."""
    tokens = values.integer(a, names.CONTEXT_TOKENS)
    if tokens is None:
        return None
    source = a.get(names.CONTEXT_WINDOW_SOURCE)
    window = values.integer(a, names.CONTEXT_WINDOW)
    reserve = values.integer(a, names.REQUEST_MAX_TOKENS) or 0
    return Context(
        estimated_tokens=tokens,
        calibrated=a.get(names.CONTEXT_CALIBRATED) is True,
        window=window,
        window_source=source if source in ("configuration", "table") else None,
        fits=window is None or tokens + reserve <= window,
    )


def parameters(a: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        key.removeprefix(names.REQUEST_PREFIX): list(value) if isinstance(value, tuple) else value
        for key, value in sorted(a.items())
        if key.startswith(names.REQUEST_PREFIX) and key != names.REQUEST_MODEL
    }
    extra = values.structure(a, names.REQUEST_PARAMETERS)
    return {**known, **extra} if isinstance(extra, dict) else known


def result_span(part: Any) -> str | None:
    """Return the id of the span that holds the result of this part, where it only refers to it."""
    response = part.get("response") if isinstance(part, Mapping) else None
    told = response.get(names.RESULT_OF) if isinstance(response, Mapping) else None
    return told if isinstance(told, str) else None


def parts_of(message: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    parts = None if message is None else message.get("parts")
    if not isinstance(parts, list):
        return None
    found = [part for part in parts if isinstance(part, dict)]
    # With metadata alone the parts are there and what they carry is not.
    bare = any("bytes" in part or names.NOT_RECORDED in part for part in found)
    return None if bare else found


def joined(parts: list[dict[str, Any]], kind: str) -> str:
    return "".join(str(part.get("content") or "") for part in parts if part.get("type") == kind)


def calls_of(parts: list[dict[str, Any]]) -> Iterable[CalledTool]:
    for part in parts:
        if part.get("type") == "tool_call":
            unrecorded = values.is_placeholder(part.get("arguments"))
            yield CalledTool(
                id=values.text(part, "id"),
                name=str(part.get("name") or ""),
                arguments=None if unrecorded else part.get("arguments"),
            )


def retry_of(event: SpanEvent) -> Retry:
    a = event.attributes
    return Retry(
        attempt=values.integer(a, names.RETRY_ATTEMPT) or 0,
        status=values.integer(a, names.RETRY_STATUS),
        delay_ms=(values.number(a, names.RETRY_DELAY) or 0.0) * 1000,
    )


def raw_bodies(events: Iterable[SpanEvent]) -> RawBodies | None:
    bodies = {
        "request": _body(events, names.RAW_REQUEST_EVENT),
        "response": _body(events, names.RAW_RESPONSE_EVENT),
    }
    return RawBodies(**bodies) if any(v is not None for v in bodies.values()) else None


def _body(events: Iterable[SpanEvent], name: str) -> str | None:
    parts = sorted(
        (e for e in events if e.name == name),
        key=lambda e: values.integer(e.attributes, names.RAW_PART) or 0,
    )
    if not parts:
        return None
    return "".join(values.text(e.attributes, names.RAW_BODY) or "" for e in parts)


def unknown(field: str, why: Reason, broken: str | None) -> Missing:
    """Return why a field is unknown; that it cannot be read is told before anything else."""
    if broken is not None:
        return Missing(field=field, why="unparsable", detail=broken)
    return Missing(field=field, why=why)


def missing_of_chat(
    span: SpanRecord, parts: list[dict[str, Any]] | None, usage: TokenUsage, cost: float | None
) -> tuple[Missing, ...]:
    calls = [part for part in parts or () if part.get("type") == "tool_call"]
    missing = [
        Missing(field=f"tool_calls.{index}.arguments", why="not_captured")
        for index, part in enumerate(calls)
        if values.is_placeholder(part.get("arguments"))
    ]
    if span.ended_at is not None and parts is None:
        # A call that failed has no answer that could have been captured.
        why: Reason = "not_recorded" if names.ERROR_TYPE in span.attributes else "not_captured"
        broken = values.damaged(span.attributes, names.OUTPUT_MESSAGES)
        missing += [unknown(field, why, broken) for field in ("content", "thinking", "tool_calls")]
    missing += [
        Missing(field=f"usage.{name}", why="not_reported") for name, value in usage if value is None
    ]
    if cost is None:
        detail = values.text(span.attributes, names.COST_MISSING)
        missing.append(Missing(field="cost_usd", why="no_price", detail=detail))
    return tuple(missing)


def _result(text: str | None) -> str | None:
    """Return the text that a tool gave; text that is no JSON object was wrapped in one."""
    if text is None or not text.startswith('{"result":'):
        return text
    whole = values.structure({"result": text}, "result")
    if isinstance(whole, dict) and set(whole) == {"result"} and isinstance(whole["result"], str):
        return whole["result"]
    return text


def _unwrapped(arguments: Any) -> Any:
    """Return arguments as the model gave them; what is no object was wrapped in one."""
    if isinstance(arguments, dict) and arguments.keys() == {"arguments"}:
        inner = arguments["arguments"]
        # Other instrumentations wrap nothing: an object inside is wrapped only if it looks so too.
        if not isinstance(inner, dict) or inner.keys() == {"arguments"}:
            return inner
    return arguments


def _cuts(cuts: Any) -> Iterable[Cut]:
    if isinstance(cuts, dict):
        for field, sizes in cuts.items():
            match sizes:
                case {"from": int(total), "to": int(kept)}:
                    yield Cut(field=field, kept=kept, total=total)

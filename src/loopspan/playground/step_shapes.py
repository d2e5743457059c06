"""The light form of each kind of step: same names, bodies by reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopspan.playground.bodies import JSON, TEXT, Bodies, Shape
from loopspan.playground.exchanges import Exchange
from loopspan.playground.header import USAGE, missing
from loopspan.runs import AssembledStep, ChatStep, RequestStep, Run, RunStep, ToolStep
from loopspan.runs.steps import CalledTool, StepError
from loopspan.telemetry.redaction import DEFAULT_REDACTION


def request_shape(step: RequestStep, exchange: Exchange) -> Shape:
    """Return what was sent; `messages` are counted, the page asks for them."""
    messages = exchange.messages
    told = None
    if messages is not None:
        size = exchange.message_bytes
        told = {"count": len(messages), "bytes": size, "new_from": step.new_from}
    shape = _common(step, step.model) | {
        "provider": step.provider,
        "model": step.model,
        "messages": told,
        "delta": exchange.delta(),
        "tools": exchange.tool_refs(),
        "parameters": step.parameters,
        "context": exchange.context(),
    }
    if messages is None:
        reasons = {m["field"]: m for m in shape["missing"]}
        shape["missing"].append({**reasons.get("messages", _NOT_CAPTURED), "field": "delta"})
    return shape


_NOT_CAPTURED = {"why": "not_captured"}


def open_chat(step: RequestStep) -> Shape:
    """Return the answer that is waited for."""
    fields = dict.fromkeys(_CHAT_FIELDS)
    return {
        **_common(step, None),
        "kind": "chat",
        "state": "open",
        "duration_ms": None,
        **fields,
        "retries": [],
        "usage": dict.fromkeys(USAGE),
        "missing": [{"field": name, "why": "still_open"} for name in _CHAT_FIELDS[:-1]],
    }


_CHAT_FIELDS = (
    "response_model",
    "content",
    "thinking",
    "tool_calls",
    "finish_reason",
    "finish_reason_raw",
    "time_to_first_chunk_ms",
    "cost_usd",
    "cost_source",
    "raw",
)


def chat_shape(step: ChatStep, bodies: Bodies) -> Shape:
    """Return what the provider answered."""
    raw = None
    if step.raw is not None:
        raw = {
            name: None if text is None else bodies.text(_redacted(text), JSON)
            for name, text in (("request", step.raw.request), ("response", step.raw.response))
        }
    calls = step.tool_calls
    shape = _common(step, step.finish_reason) | {
        "response_model": step.response_model,
        "content": _answer(step, bodies),
        "thinking": None if step.thinking is None else bodies.text(step.thinking),
        "tool_calls": None if calls is None else [_call(call, bodies) for call in calls],
        "finish_reason": step.finish_reason,
        "finish_reason_raw": step.finish_reason_raw,
        "time_to_first_chunk_ms": step.time_to_first_chunk_ms,
        "retries": [retry.model_dump(mode="json") for retry in step.retries],
        "usage": step.usage.model_dump(mode="json"),
        "cost_usd": step.cost_usd,
        "cost_source": step.cost_source,
        "raw": raw,
    }
    if shape["error"] is not None and raw is not None:
        shape["error"]["body"] = raw["response"]
    return shape


def tool_shape(step: ToolStep, bodies: Bodies, definition: str | None) -> Shape:
    """Return what a tool did."""
    known = all(each.field != "arguments" for each in step.missing)
    return _common(step, step.name) | {
        "tool_call_id": step.tool_call_id,
        "name": step.name,
        "arguments": _arguments(step.arguments, bodies) if known else None,
        "result": None if step.result is None else bodies.text(step.result, _kind(step.result)),
        "is_error": step.is_error,
        "refused_by": step.refused_by,
        "definition": definition,
        "cut": [each.model_dump(mode="json") | {"why": "limit"} for each in step.cut],
    }


def assembled_shape(step: AssembledStep, exchange: Exchange, bodies: Bodies) -> Shape:
    """Return what a dry run put together."""
    messages = exchange.messages
    return _common(step, None) | {
        "messages": None if messages is None else exchange.refs(range(len(messages))),
        "tools": exchange.tool_refs(),
        "parts": None if step.parts is None else [_part(part) for part in step.parts],
        "body": None if step.body is None else bodies.json(step.body),
        "context": exchange.context(),
    }


def run_error(run: Run) -> Shape:
    """Return a step for what ended a run before or between its steps."""
    return {
        "kind": "error",
        "round": None,
        "state": "error",
        "started_at": str(run.started_at),
        "duration_ms": run.duration_ms,
        "span_id": None,
        "parent": None,
        "depth": 0,
        "title": None,
        "error": _error(run.error),
        "cut": [],
        "missing": [],
    }


def _common(step: RunStep, title: str | None) -> Shape:
    return {
        "kind": step.kind,
        "round": step.round,
        "state": step.state,
        "started_at": str(step.started_at),
        "duration_ms": step.duration_ms,
        "span_id": step.span_id,
        "title": title,
        "error": _error(step.error),
        "cut": [],
        "missing": [missing(each) for each in step.missing],
    }


def _error(error: StepError | None) -> Shape | None:
    if error is None:
        return None
    status = int(error.type) if error.type.isdecimal() and len(error.type) == 3 else None
    message = None if error.message is None else _redacted(error.message)
    return {"type": error.type, "message": message, "status": status, "body": None}


def _redacted(text: str) -> str:
    """Return what a provider or tool wrote with the secrets in it marked."""
    return DEFAULT_REDACTION.redact(text)


def _answer(step: ChatStep, bodies: Bodies) -> Shape | None:
    """Return the answer as one message, as the next request carries it."""
    if step.content is None and not step.tool_calls:
        return None
    parts: list[Shape] = []
    if step.thinking is not None:
        parts.append({"type": "reasoning", "content": step.thinking})
    if step.content:
        parts.append({"type": "text", "content": step.content})
    for call in step.tool_calls or ():
        told = {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        parts.append({k: v for k, v in told.items() if v is not None})
    ref = bodies.message({"role": "assistant", "parts": parts})
    tokens = step.usage.output_tokens
    return {
        **ref,
        "origins": [{"type": "model", "start": 0, "end": ref["bytes"]}],
        "tokens": tokens,
        "tokens_source": None if tokens is None else "reported",
    }


def _call(call: CalledTool, bodies: Bodies) -> Shape:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": _arguments(call.arguments, bodies),
        "valid": not isinstance(call.arguments, str),
    }


def _arguments(arguments: Any, bodies: Bodies) -> Shape:
    """Return a reference to arguments; a text is what a model wrote that is no JSON."""
    if isinstance(arguments, str):
        return bodies.text(arguments, TEXT)
    return bodies.json(arguments)


def _kind(text: str) -> str:
    """Return the media type of a result by its first character, without reading it."""
    return JSON if text.lstrip()[:1] in ("{", "[") else TEXT


def _part(part: Mapping[str, Any]) -> Shape:
    return {
        "type": part.get("type"),
        "id": part.get("id"),
        "name": part.get("id"),
        "bytes": part.get("bytes"),
        "at": part.get("message"),
        "start": part.get("start"),
        "end": part.get("end"),
        "dropped": part.get("dropped"),
    }

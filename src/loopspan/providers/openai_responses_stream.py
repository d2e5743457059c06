"""How the events of a stream of OpenAI's Responses API make the response that it streams.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from loopspan.messages import Reasoning, Text
from loopspan.providers.adapter import Delta, StreamState

_Wire: TypeAlias = dict[str, Any]

_RESPONSE = frozenset(
    f"response.{word}" for word in ("created", "queued", "in_progress", "completed", "incomplete")
) | {"response.failed", "response.cancelled"}
_LAST = frozenset(f"response.{word}" for word in ("completed", "incomplete", "failed", "cancelled"))

_TEXTS: dict[str, tuple[str, str, str, str]] = {
    "response.output_text": ("message", "content", "output_text", "text"),
    "response.refusal": ("message", "content", "refusal", "refusal"),
    "response.reasoning_text": ("reasoning", "content", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("reasoning", "summary", "summary_text", "text"),
}
"""Texts that come piecewise: the type of their item, its list, the part's type and field."""

_FIELDS = {
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.mcp_call_arguments": "arguments",
    "response.code_interpreter_call_code": "code",
}
"""Fields of an item that come piecewise."""


def take(state: StreamState, event: _Wire) -> Iterator[Delta]:
    """Put one event into the response, yielding the text that it brings."""
    kind = str(event.get("type"))
    what, _, step = kind.rpartition(".")
    if kind in _RESPONSE:
        _take_response(state, event["response"])
        state.ended = state.ended or kind in _LAST
    elif what == "response.output_item":
        _put_item(state, event["output_index"], event["item"])
    elif what == "response.content_part":
        _put_part(_item(state, event, "message"), "content", event["content_index"], event["part"])
    elif what == "response.reasoning_summary_part":
        item = _item(state, event, "reasoning")
        _put_part(item, "summary", event["summary_index"], event["part"])
    elif what == "response.output_text.annotation":
        part = _part(_item(state, event, "message"), event, "content", "output_text", "text")
        part["annotations"] = [*(part.get("annotations") or ()), event["annotation"]]
    elif what in _FIELDS and step in ("delta", "done"):
        _take_field(state, event, _FIELDS[what], step)
    elif what in _TEXTS and step in ("delta", "done"):
        yield from _take_text(state, event, what, step)


def _take_response(state: StreamState, response: _Wire) -> None:
    # Some servers leave the items out of the last event, having sent each of them before:
    # https://github.com/QuantumNous/new-api/issues/4362
    output = response.get("output") or state.body.get("output") or []
    state.body |= {**response, "output": output}


def _put_item(state: StreamState, index: int, item: _Wire) -> None:
    """Put an item to its place; what is not there yet comes to the end."""
    output: list[_Wire] = state.body.setdefault("output", [])
    places: dict[int, int] = state.scratch.setdefault("places", {})
    if index in places:
        output[places[index]] = item
    else:
        places[index] = len(output)
        output.append(item)


def _item(state: StreamState, event: _Wire, kind: str) -> _Wire:
    """Return the item that an event is about; a server may have left out that it began."""
    index = event["output_index"]
    if index not in state.scratch.get("places", {}):
        role = {"role": "assistant"} if kind == "message" else {}
        _put_item(state, index, {"type": kind, "id": event.get("item_id"), **role})
    item: _Wire = state.body["output"][state.scratch["places"][index]]
    return item


def _put_part(item: _Wire, field: str, index: int, part: _Wire) -> None:
    parts = item[field] = item.get(field) or []
    if 0 <= index < len(parts):
        parts[index] = part
    else:
        parts.append(part)


def _part(item: _Wire, event: _Wire, field: str, kind: str, key: str) -> _Wire:
    parts: list[_Wire] = item.get(field) or []
    index = event["summary_index" if field == "summary" else "content_index"]
    if not 0 <= index < len(parts):
        _put_part(item, field, index, {"type": kind, key: ""})
        index = -1
    return item[field][index]  # type: ignore[no-any-return]


def _take_text(state: StreamState, event: _Wire, what: str, step: str) -> Iterator[Delta]:
    kind, field, part_kind, key = _TEXTS[what]
    part = _part(_item(state, event, kind), event, field, part_kind, key)
    if step == "done":
        part[key] = event[key]
        return
    piece = event["delta"]
    part[key] += piece
    if piece:
        yield Text(piece) if kind == "message" else Reasoning(piece)


def _take_field(state: StreamState, event: _Wire, field: str, step: str) -> None:
    if event["output_index"] not in state.scratch.get("places", {}):
        return  # a call without a name is none; the last event may bring it
    item = _item(state, event, "")
    if step == "done":
        item[field] = event[field]
    else:
        item[field] = (item.get(field) or "") + event["delta"]

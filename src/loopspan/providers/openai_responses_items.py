"""Items of OpenAI's Responses API, in both directions.

https://platform.openai.com/docs/api-reference/responses/create#responses-create-input

An answer is a list of items: thinking, messages, calls. They are the parts of one message of
ours, in their order; in a request all items of the assistant between two others are. What an
item holds besides what we have names for stays under the adapter's name as `item`; a part that
has one begins an item of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from loopspan.jsontext import dump_text, load
from loopspan.messages import Generic, Message, Part, Reasoning, Text, ToolCall, ToolCallResponse
from loopspan.providers.openai_responses_parts import (
    NAME,
    kept,
    read_part,
    rest,
    text,
    write_part,
)

_Wire: TypeAlias = dict[str, Any]
_CUSTOM = "custom_tool_call"


def write_items(messages: Iterable[Message]) -> list[_Wire]:
    """Return a dialogue as the API's items."""
    messages = tuple(messages)
    custom = {
        call.id
        for message in messages
        for call in message.tool_calls
        if call.own(NAME).get("item", {}).get("type") == _CUSTOM
    }
    return [
        # A result must be of the type of its call, which another message holds:
        # https://platform.openai.com/docs/guides/function-calling#custom-tools
        {**item, "type": f"{_CUSTOM}_output"}
        if item.get("type") == "function_call_output" and item.get("call_id") in custom
        else item
        for message in messages
        for item in message.form((NAME, "wire"), _write_message)
    ]


def _write_message(message: Message) -> list[_Wire]:
    items: list[_Wire] = []
    content: list[Part] = []
    for part in message.parts:
        alone = _write_item(part, message.role)
        if content and (alone is not None or "item" in part.own(NAME)):
            items.append(_write_content(content, message.role))
            content = []
        if alone is None:
            content.append(part)
        elif alone:
            items.append(alone)
    if content or not message.parts:
        items.append(_write_content(content, message.role))
    return items


def _write_item(part: Part, role: str) -> _Wire | None:
    """Return a part that is an item, `{}` if nothing of it is sent, `None` if it is content."""
    own = part.own(NAME)
    item = own.get("item", {})
    match part:
        case Reasoning():
            return dict(item)
        case ToolCall() if item.get("type") == _CUSTOM:
            return {"call_id": part.id, "name": part.name, "input": part.arguments, **item}
        case ToolCall():
            call = {"type": "function_call", "call_id": part.id, "name": part.name}
            return {**call, "arguments": _arguments_text(part), **item}
        case ToolCallResponse():
            response = part.response
            plain = isinstance(response, str) or own.get("listed")
            output = response if plain else dump_text(response)
            return {"type": "function_call_output", "call_id": part.id, "output": output, **item}
        case Generic() if own.get("place") == "item":
            return dict(part.body)
        case Generic() if role == "assistant" and own.get("place") != "content":
            return {}  # another provider's detail of an answer
    return None


def _arguments_text(part: ToolCall) -> Any:
    own = part.own(NAME)
    if "arguments" in own:
        return own["arguments"]
    if isinstance(part.arguments, str):
        return part.arguments
    return dump_text(part.arguments if part.arguments is not None else {})


def _write_content(parts: list[Part], role: str) -> _Wire:
    item = parts[0].own(NAME).get("item", {}) if parts else {}
    role = "user" if role == "tool" else role
    match parts:
        case [Text() as part] if "part" not in part.own(NAME):
            return {"role": role, "content": part.content, **item}
    return {"role": role, "content": [write_part(part, role) for part in parts], **item}


def read_items(items: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return the dialogue that these items are."""
    messages: list[Message] = []
    turn: list[Part] = []
    for item in items:
        role = _role(item)
        if role == "assistant":
            turn += read_item(item, turn)
            continue
        if turn:
            messages.append(Message("assistant", tuple(turn)))
            turn = []
        messages.append(Message(role, tuple(read_item(item, ()))))
    if turn:
        messages.append(Message("assistant", tuple(turn)))
    return tuple(messages)


def _role(item: Mapping[str, Any]) -> str:
    if "role" in item:
        return text(item["role"])
    # What the client answers: results of all kinds of calls, and whether one is approved.
    ours = text(item.get("type")).endswith(("_output", "_approval_response"))
    return "tool" if ours else "assistant"


def read_output(items: Iterable[Mapping[str, Any]]) -> tuple[Part, ...]:
    """Return the parts of an answer."""
    parts: list[Part] = []
    for item in items:
        parts += read_item(item, parts)
    return tuple(parts)


def read_item(item: Mapping[str, Any], before: Iterable[Part]) -> list[Part]:
    """Return the parts of an item that follows these parts; an unknown one becomes `Generic`."""
    match item.get("type"):
        case None | "message" if "role" in item:
            return _read_message(item, list(before))
        case "reasoning":
            return [Reasoning(_thinking(item), extra=kept(item=item))]
        case "function_call":
            return [_read_call(item)]
        case "custom_tool_call":
            own = rest(item, "call_id", "name", "input")
            call = ToolCall(text(item["name"]), item["input"], _call_id(item), extra=kept(item=own))
            return [call]
        case "function_call_output" | "custom_tool_call_output" as kind:
            named = ("call_id", "output", *(("type",) if kind == "function_call_output" else ()))
            output = item["output"]
            listed = None if isinstance(output, str) else True
            extra = kept(item=rest(item, *named) or None, listed=listed)
            return [ToolCallResponse(output, _call_id(item), extra=extra)]
    kind = str(item.get("type") or "unknown")
    return [Generic(kind, item, extra={NAME: {"place": "item"}})]


def _read_message(item: Mapping[str, Any], before: list[Part]) -> list[Part]:
    role, content = text(item["role"]), item.get("content")
    own = rest(item, "role", "content")
    # Content that follows content would be one item with it.
    follows = bool(before) and _write_item(before[-1], role) is None
    begins = own if own or follows else None
    if isinstance(content, str):
        return [Text(content, extra=kept(item=begins))]
    parts = [read_part(part, role) for part in content or ()]
    if not parts:
        return []
    first = parts[0]
    details = {**first.own(NAME), **({} if begins is None else {"item": begins})}
    if len(parts) == 1 and isinstance(first, Text):
        details.setdefault("part", {})
    return [_with(first, details), *parts[1:]]


def _with(part: Part, details: Mapping[str, Any]) -> Part:
    return replace(part, extra={NAME: details}) if details else part


def _thinking(item: Mapping[str, Any]) -> str:
    """Return the thinking itself where the server shows it, else its summary."""
    for field, between in (("content", ""), ("summary", "\n\n")):
        if parts := item.get(field):
            return between.join(text(part.get("text")) for part in parts)
    return ""


def _read_call(item: Mapping[str, Any]) -> ToolCall:
    raw = item.get("arguments")
    arguments = _parsed(raw)
    same = not isinstance(arguments, str) and dump_text(arguments) == raw
    own = rest(item, "type", "call_id", "name", "arguments")
    extra = kept(item=own or None)
    if not same and "arguments" in item:
        extra = {NAME: {**extra.get(NAME, {}), "arguments": raw}}
    return ToolCall(text(item["name"]), arguments, _call_id(item), extra=extra)


def _parsed(raw: Any) -> Any:
    """Return the arguments of a call; nothing is an empty object, bad JSON stays text."""
    if raw is None or raw == "":
        return {}
    try:
        arguments = load(raw) if isinstance(raw, str) else raw
    except ValueError:
        return raw
    return {} if arguments is None else arguments


def _call_id(item: Mapping[str, Any]) -> str | None:
    return text(item.get("call_id")) or None

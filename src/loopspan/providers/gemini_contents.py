"""Contents of Gemini's requests, to and from the messages of a dialogue.

https://ai.google.dev/api/caching#Content
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from loopspan.messages import Generic, Message, Part, Reasoning, Text, ToolCall, ToolCallResponse
from loopspan.providers.gemini_parts import NAME, Ids, Wire, provider_id, read_part, write_part

_ROLES = {"assistant": "model", "tool": "user"}
_SYSTEM = ("system", "developer")


def write_system(messages: Iterable[Message]) -> list[Wire]:
    """Return the parts of all system messages; the API has one place for them."""
    return [part for m in messages if m.role in _SYSTEM for part in _wire(m, {})]


def write_contents(messages: Iterable[Message]) -> list[Wire]:
    """Return the dialogue; the results of one round are one content.

    A message of which nothing can be sent is left out, for the API refuses a content without
    parts.
    """
    contents: list[Wire] = []
    calls: dict[str, ToolCall] = {}
    before = ""
    for message in messages:
        parts = [] if message.role in _SYSTEM else _wire(message, calls)
        calls |= {call.id: call for call in message.tool_calls if call.id}
        if not parts:
            continue
        if message.role == before == "tool":
            contents[-1]["parts"] += parts
        else:
            role = _ROLES.get(message.role, message.role)
            contents.append({"role": role, "parts": list(parts)})
        before = message.role
    return contents


def _wire(message: Message, calls: Mapping[str, ToolCall]) -> list[Wire]:
    answered = [
        calls.get(part.id or "") if isinstance(part, ToolCallResponse) else None
        for part in message.parts
    ]

    def made(message: Message) -> list[Wire]:
        written = (
            write_part(part, call)
            for part, call in zip(message.parts, answered, strict=True)
            if not (message.role == "assistant" and _is_foreign(part))
        )
        return [part for part in written if part is not None]

    # A result's form depends on the call that it answers.
    key = tuple(call and (call.name, provider_id(call)) for call in answered)
    return message.form((NAME, "wire", key), made)


def _is_foreign(part: Part) -> bool:
    """Whether this is a detail of an answer that only another provider understands."""
    return isinstance(part, Generic) and bool(part.extra) and NAME not in part.extra


def read_parts(content: Any, ids: Ids) -> tuple[Part, ...]:
    """Return the parts of a content; none where it has none."""
    return tuple(read_part(part, ids) for part in (content or {}).get("parts") or () if part)


def read_answer(content: Any, ids: Ids) -> Message:
    """Return the message of an answer; empty text is left out unless it bears a signature."""
    empty = (Text(""), Reasoning("", extra={NAME: {"thought": True}}))
    return Message("assistant", tuple(p for p in read_parts(content, ids) if p not in empty))


def read_contents(contents: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Return the dialogue; a content of nothing but results becomes one message for each."""
    ids = Ids()
    waiting: list[ToolCall] = []
    messages: list[Message] = []
    for content in contents:
        role = content.get("role") or "user"
        if not isinstance(role, str):
            raise TypeError(f"a role must be text, got {type(role).__name__}")
        parts = tuple(
            _linked(part, waiting) if isinstance(part, ToolCallResponse) else part
            for part in read_parts(content, ids)
        )
        if role == "model":
            messages.append(Message("assistant", parts))
            waiting = list(messages[-1].tool_calls)
        elif parts and all(isinstance(part, ToolCallResponse) for part in parts):
            messages += (Message("tool", (part,)) for part in parts)
        else:
            messages.append(Message(role, parts))
    return messages


def _linked(result: ToolCallResponse, waiting: list[ToolCall]) -> ToolCallResponse:
    """Return a result with the id of the call that it answers: by id, else by name and order.

    An id on the wire that the call does not have is kept.
    """
    same = (c for c in waiting if result.id is not None and provider_id(c) == result.id)
    alike = [c for c in waiting if c.name == result.name]
    unnamed = (c for c in alike if provider_id(c) is None)
    call = next(chain(same, unnamed, alike if result.id is None else ()), None)
    if call is not None:
        waiting.remove(call)
    if result.id is not None and (call is None or provider_id(call) is None):
        own = result.own(NAME)
        inner = {**own.get("functionResponse", {}), "id": result.id}
        result = replace(result, extra={NAME: {**own, "functionResponse": inner}})
    return result if call is None else replace(result, id=call.id)

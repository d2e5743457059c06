"""Messages and tool calls, as the conventions' JSON has them, in short text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loopspan.jsontext import dump_text
from loopspan.runs import values


def message_text(message: Mapping[str, Any]) -> str:
    """Return what a message says, its parts one below the other; not yet safe to show."""
    parts = message.get("parts")
    if not isinstance(parts, list):
        return ""
    return "\n".join(_part_text(part) for part in parts if isinstance(part, Mapping))


def call_text(name: str, arguments: Any, known: bool = True) -> str:
    """Return a tool call as people write it; not yet safe to show."""
    if not known:
        return f"{name}(…)"
    if arguments is None:
        return f"{name}()"
    if values.is_placeholder(arguments):
        return f"{name}(not recorded)"
    if isinstance(arguments, Mapping):
        given = (f"{key}={dump_text(value)}" for key, value in arguments.items())
        return f"{name}({', '.join(given)})"
    return f"{name}({arguments if isinstance(arguments, str) else dump_text(arguments)})"


def joined(facts: Iterable[str]) -> str:
    """Return the facts that there are, on one line."""
    return " · ".join(filter(None, facts))


def _part_text(part: Mapping[str, Any]) -> str:
    size = part.get("bytes")
    if isinstance(size, int):  # of a message that was recorded without its content
        named = " ".join(str(part[key]) for key in ("type", "name") if part.get(key))
        return f"({named}, {size:,} bytes)"
    match part.get("type"):
        case "text":
            return str(part.get("content") or "")
        case "reasoning":
            return f"(thinking, {len(str(part.get('content') or '')):,} characters)"
        case "tool_call":
            return f"→ {call_text(str(part.get('name')), part.get('arguments'))}"
        case "tool_call_response":
            answer = part.get("response")
            said = answer if isinstance(answer, str) else dump_text(answer)
            said = "not recorded" if values.is_placeholder(answer) else said
            return f"{part['name']}: {said}" if part.get("name") else said
        case kind:
            facts = (part.get(key) for key in ("modality", "mime_type", "uri", "file_id"))
            return f"({', '.join(str(each) for each in (kind, *facts) if each)})"

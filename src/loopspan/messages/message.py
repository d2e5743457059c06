"""One message of a dialogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopspan.messages.formed import Formed
from loopspan.messages.parts import Part, Reasoning, Text, ToolCall, part_from_json


@dataclass(frozen=True, slots=True)
class Message(Formed):
    """One message of a dialogue."""

    role: str
    parts: tuple[Part, ...]
    name: str | None = None
    _forms: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """All text of the message, without thinking."""
        return "".join(part.content for part in self.parts if isinstance(part, Text))

    @property
    def reasoning(self) -> str:
        """All thinking text of the message."""
        return "".join(part.content for part in self.parts if isinstance(part, Reasoning))

    @property
    def carried(self) -> str:
        """What all parts are there for, joined as text."""
        return "".join(part.carried for part in self.parts)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that the message asks for, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    def to_json(self) -> dict[str, Any]:
        """Return the message as the conventions' JSON object."""
        result: dict[str, Any] = {
            "role": self.role,
            "parts": [part.to_json() for part in self.parts],
        }
        if self.name is not None:
            result["name"] = self.name
        return result


def system(content: str) -> Message:
    """Return a system message of one text part."""
    return Message("system", (Text(content),))


def user(*parts: str | Part) -> Message:
    """Return a user message; plain strings become text parts."""
    return Message("user", tuple(Text(p) if isinstance(p, str) else p for p in parts))


def assistant(*parts: str | Part) -> Message:
    """Return an assistant message; plain strings become text parts."""
    return Message("assistant", tuple(Text(p) if isinstance(p, str) else p for p in parts))


def message_from_json(data: Mapping[str, Any]) -> Message:
    """Return the message that `to_json` wrote."""
    parts = tuple(part_from_json(part) for part in data.get("parts") or ())
    return Message(str(data.get("role", "")), parts, data.get("name"))

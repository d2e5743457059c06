"""Where each stretch of a message comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopspan.playground.bodies import Shape

_BY_ROLE = {"assistant": "model", "tool": "tool"}


class Origins:
    """The provenance that assembly recorded, and for later messages what their role tells."""

    def __init__(self, parts: Sequence[Mapping[str, Any]] | None) -> None:
        self.recorded = parts is not None
        self._at: dict[int, list[Shape]] = {}
        self._first: dict[int, int] = {}
        for part in parts or ():
            position = part.get("message")
            if isinstance(position, int) and "dropped" not in part:
                self._at.setdefault(position, []).append(_origin(part))

    def first(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Take the messages of round 1, which the recorded positions are about."""
        if not self._first:
            self._first = {id(message): i for i, message in enumerate(messages)}

    def of(self, message: Mapping[str, Any], size: int) -> list[Shape]:
        """Return the stretches of a message in order, in bytes of what it carries."""
        position = self._first.get(id(message))
        if position in self._at:
            return self._at[position]
        kind = _BY_ROLE.get(str(message.get("role")), "unknown")
        return [{"type": kind, "start": 0, "end": size}]


def _origin(part: Mapping[str, Any]) -> Shape:
    known = {"type": part.get("type"), "start": part.get("start"), "end": part.get("end")}
    if part.get("id") is not None:
        known |= {"id": part["id"], "name": part["id"]}
    return known

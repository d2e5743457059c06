"""Provenance: where each piece of a prompt comes from, where it lies, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Origin: TypeAlias = Literal[
    "system", "override", "snippet", "skill", "guard", "user", "model", "tool", "unknown"
]
"""Who a piece comes from; `guard` is what loopspan itself puts around skills."""

Dropped: TypeAlias = Literal[
    "missing", "disabled", "unrecorded", "checksum", "budget", "duplicate", "unknown_tag"
]
"""Why a piece was asked for and left out."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A piece of the prompt.

    `message` is its position in the list of messages, `start` and `end` are the bytes that it takes
    of what that message carries (the text of all its parts, in UTF-8). A piece that was left out
    has no place, and `dropped` says why; `bytes` is its size either way.
    """

    type: Origin
    bytes: int
    id: str | None = None
    message: int | None = None
    start: int | None = None
    end: int | None = None
    dropped: Dropped | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what is known of the piece."""
        known = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in known.items() if value is not None}


def size(text: str) -> int:
    """Return the bytes of a text in UTF-8, whatever it holds."""
    return len(text.encode("utf-8", "surrogatepass"))

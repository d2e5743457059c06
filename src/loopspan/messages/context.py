"""What a request takes of a model's context window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

WindowSource: TypeAlias = Literal["configuration", "table"]


@dataclass(frozen=True, slots=True)
class Window:
    """A context window in tokens, and who says so."""

    tokens: int
    source: WindowSource


@dataclass(frozen=True, slots=True)
class ContextUse:
    """What a request takes of the window: always an estimate, `calibrated` once a count is known.

    `reserve` is what the answer may take (`max_tokens`).
    """

    tokens: int
    calibrated: bool
    reserve: int
    window: Window | None

    @property
    def fits(self) -> bool:
        """Whether request and answer stay within the window, as far as it is known."""
        return self.window is None or self.tokens + self.reserve <= self.window.tokens

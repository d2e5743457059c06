"""A shape of secrets, as redaction searches for it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape of secrets, and the name that stands in its place.

    Masked is the group `secret` of a pattern, else all of its match, and in JSON also the text
    under a key of `fields` (lower case, without `-` and `_`). A text in lower case is searched if
    it has one of the `hints` and one of those in `also`, where there are any.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    hints: tuple[re.Pattern[str], ...] = ()
    also: tuple[re.Pattern[str], ...] = ()
    fields: frozenset[str] = frozenset()

    def may_match(self, lowered: str) -> bool:
        """Whether a text, given in lower case, can hold what this rule masks."""
        return all(
            any(hint.search(lowered) for hint in hints)
            for hints in (self.hints, self.also)
            if hints
        )


def field_name(key: str) -> str:
    """Return a key as the `fields` of rules have it."""
    return key.replace("-", "").replace("_", "").lower()

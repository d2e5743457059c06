"""Makes content fit a limit in bytes by cutting inside the structure, so that its JSON stays valid.

The longest strings are cut first, each with a mark that says how long it was. Where that does not
suffice, keys, elements and the oldest messages are left out, with a mark that says how many.
Roles, types, ids and names of what stays are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from loopspan.jsontext import dump_text, load
from loopspan.telemetry import semconv as names
from loopspan.telemetry.pruning import Tree

MINIMUM = 160
"""From this limit on, in bytes, no content is dropped as a whole."""

Cuts: TypeAlias = dict[str, tuple[int, int]]
"""What was cut, by attribute or field: from how many bytes to how many."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A text that fits; `None` where not even its marks do.

    `cut` is the size in bytes before and after, `None` where nothing was lost.
    """

    text: str | None
    cut: tuple[int, int] | None = None


def trimmed(text: str, limit: int) -> Trimmed:
    """Return the text in at most `limit` bytes of UTF-8; unchanged where it has no more."""
    size = byte_count(text)
    if size <= limit:
        return Trimmed(text)
    value = _structure(text)
    if value is None:
        short = Tree.of_text(text).fit(limit)
        return Trimmed(short, (size, 0 if short is None else byte_count(short)))
    compact = dump_text(value)
    if byte_count(compact) <= limit:
        return Trimmed(compact)  # it was white space that was too much
    fitting = Tree.of_json(value).fit(limit)
    return Trimmed(fitting, (size, 0 if fitting is None else byte_count(fitting)))


def byte_count(text: str) -> int:
    """Return the size of a text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))

"""Makes content fit a limit in bytes by cutting inside the structure, so that its JSON stays valid.

The longest strings are cut first, each with a mark that says how long it was. Where that does not
suffice, keys, elements and the oldest messages are left out, with a mark that says how many.
Roles, types, ids and names of what stays are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

from loopspan.jsontext import dump_text, load
from loopspan.telemetry import semconv as names
from loopspan.telemetry.cutting import byte_count, cut_text, mark_size
from loopspan.telemetry.nodes import lines, plain, size, tree
from loopspan.telemetry.pruning import level, prune

MINIMUM = 160
"""From this limit on, in bytes, nothing is dropped as a whole."""

Cuts: TypeAlias = dict[str, tuple[int, int]]
"""What was cut, by attribute or field: from how many bytes to how many."""

_STRUCTURE = re.compile(r"\s*[\[{]")


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A text that fits, `None` where not even its marks do.

    `cut` is its size in bytes before and after, `None` where nothing was lost.
    """

    text: str | None
    cut: tuple[int, int] | None = None


def trimmed(text: str, limit: int) -> Trimmed:
    """Return a text in at most `limit` bytes of UTF-8; one that has no more is returned as it is.

    From a limit of `MINIMUM` on there is always a text; below, it may be dropped as a whole.
    """
    before = byte_count(text)
    if before <= limit:
        return Trimmed(text)
    fitting: str | None
    value = _structure(text)
    if value is None:
        fitting = cut_text(text, limit, escaped=False) if mark_size(text) <= limit else None
    else:
        compact = dump_text(value)
        if byte_count(compact) > limit:
            fitting = _fitted(value, limit)
        elif load(compact) == value:
            return Trimmed(compact)  # white space was all that was too much
        else:
            fitting = compact
    return Trimmed(fitting, (before, 0 if fitting is None else byte_count(fitting)))


def fitted(
    attributes: Mapping[str, Any], limit: int, cuts: Cuts, only: Set[str] | None = None
) -> Mapping[str, Any]:
    """Return attributes whose texts have at most `limit` bytes; the same ones where all fit.

    What was cut is added to `cuts`. With `only`, no others than the attributes of these names.
    """
    changed: dict[str, Any] = {}
    for name, value in attributes.items():
        if name == names.TRUNCATED or (only is not None and name not in only):
            continue
        short = _short(name, value, limit, cuts)
        if short is not value:
            changed[name] = short
    if not changed:
        return attributes
    gone = {name for name, value in changed.items() if value is None}
    return {k: changed.get(k, v) for k, v in attributes.items() if k not in gone}


def fitted_event(
    event: str,
    attributes: Mapping[str, Any],
    limit: int,
    cuts: Cuts,
    only: Set[str] | None = None,
) -> Mapping[str, Any]:
    """Do what `fitted` does for an event of this name; what events lose is added up."""
    own: Cuts = {}
    result = fitted(attributes, limit, own, only)
    for name, (before, after) in own.items():
        whole = name if name.startswith(f"{event}.") else f"{event}.{name}"
        earlier = cuts.get(whole, (0, 0))
        cuts[whole] = (earlier[0] + before, earlier[1] + after)
    return result


def _short(name: str, value: Any, limit: int, cuts: Cuts) -> Any:
    """Return an attribute's value as it fits, the same one where it does, `None` for no place."""
    match value:
        case str():
            result = trimmed(value, limit)
        case [*items] if items and all(isinstance(item, str) for item in items):
            if sum(map(byte_count, items)) <= limit:
                return value
            result = trimmed(dump_text(items), limit)
        case _:
            return value
    if result.cut is not None:
        cuts[name] = result.cut
    return result.text if isinstance(value, str) or result.text is None else load(result.text)


def truncated_text(told: object, cuts: Mapping[str, tuple[int, int]]) -> str:
    """Return the text of `loopspan.truncated`: what it said before, and these cuts."""
    merged = _told(told)
    for name, (before, after) in cuts.items():
        earlier = merged.get(name)
        first = earlier.get("from") if isinstance(earlier, dict) else None
        merged[name] = {"from": first if isinstance(first, int) else before, "to": after}
    return dump_text(merged)


def _told(text: object) -> dict[str, Any]:
    if not isinstance(text, str):
        return {}
    try:
        value = load(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _structure(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that a text is, `None` for any other text."""
    if not _STRUCTURE.match(text):
        return None
    try:
        value = load(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _fitted(value: dict[str, Any] | list[Any], limit: int) -> str | None:
    root = tree(value)
    prune(root, limit)
    found = list(lines(root))
    whole = sum(line.size for line in found)
    ranges = [(line.least, line.size) for line in found]
    height = level(ranges, limit - (size(root) - whole))
    for line in found:
        if height < line.size:
            line.value = cut_text(line.value, height - 2, escaped=True)
    text = dump_text(plain(root))
    return text if byte_count(text) <= limit else None

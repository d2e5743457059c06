"""What changed between two requests: messages kept, added, edited, dropped; exact and linear."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """A message as the comparison sees it."""

    h: str
    role: str
    tool_call_id: str | None = None


@dataclass(slots=True)
class Compared:
    """Positions in the old list (`a`) and the new one (`b`), each named exactly once.

    `keep` are stretches `(from, to)` of `b`, `to` excluded; `edit` and `pairs` are `(a, b)`.
    """

    keep: list[tuple[int, int]] = field(default_factory=list)
    add: list[int] = field(default_factory=list)
    edit: list[tuple[int, int]] = field(default_factory=list)
    drop: list[int] = field(default_factory=list)
    prefix: int = 0

    def moved(self, by: int) -> Compared:
        """Return the same behind so many messages that both lists begin with."""
        stretches = [(0, by)] if by else []
        for start, end in self.keep:
            if stretches and stretches[-1][1] == start + by:
                stretches[-1] = (stretches[-1][0], end + by)
            else:
                stretches.append((start + by, end + by))
        return Compared(
            keep=stretches,
            add=[j + by for j in self.add],
            edit=[(i + by, j + by) for i, j in self.edit],
            drop=[i + by for i in self.drop],
            prefix=self.prefix + by,
        )


def compare(a: Sequence[Item], b: Sequence[Item]) -> Compared:
    """Return how the list `b` came out of `a`."""
    prefix = _common(a, b)
    suffix = _common(a[prefix:][::-1], b[prefix:][::-1])
    kept = [*range(prefix), *range(len(b) - suffix, len(b))]
    left, right = range(prefix, len(a) - suffix), range(prefix, len(b) - suffix)
    pairs = _paired(a, b, left, right)
    compared = Compared(prefix=prefix)
    for j, i in pairs.items():
        if a[i].h == b[j].h:
            kept.append(j)
        else:
            compared.edit.append((i, j))
    taken = set(pairs.values())
    compared.edit.sort(key=lambda pair: pair[1])
    compared.add = [j for j in right if j not in pairs]
    compared.drop = [i for i in left if i not in taken]
    compared.keep = _stretches(sorted(kept))
    return compared


def _common(a: Sequence[Item], b: Sequence[Item]) -> int:
    count = 0
    for left, right in zip(a, b, strict=False):
        if left.h != right.h:
            break
        count += 1
    return count


def _paired(
    a: Sequence[Item], b: Sequence[Item], left: Sequence[int], right: Sequence[int]
) -> dict[int, int]:
    """Return positions in `b` with their partner in `a`: by call id, then by role in order."""
    pairs: dict[int, int] = {}
    waiting: dict[tuple[str, str | None], deque[int]] = defaultdict(deque)
    for i in left:
        waiting[a[i].role, a[i].tool_call_id].append(i)
    taken: set[int] = set()
    for j in right:
        mine = waiting[b[j].role, b[j].tool_call_id] if b[j].tool_call_id else None
        if mine:
            pairs[j] = mine.popleft()
            taken.add(pairs[j])
    by_role: dict[str, deque[int]] = defaultdict(deque)
    for i in left:
        if i not in taken:
            by_role[a[i].role].append(i)
    for j in right:
        if j not in pairs and by_role[b[j].role]:
            pairs[j] = by_role[b[j].role].popleft()
    return pairs


def _stretches(positions: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for position in positions:
        if found and found[-1][1] == position:
            found[-1] = (found[-1][0], position + 1)
        else:
            found.append((position, position + 1))
    return found


def changed_tools(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Return the names of tools that came, went, or are described differently."""
    before = {tool["name"]: tool["h"] for tool in old}
    after = {tool["name"]: tool["h"] for tool in new}
    return {
        "add": [name for name in after if name not in before],
        "drop": [name for name in before if name not in after],
        "changed": [n for n, h in after.items() if n in before and before[n] != h],
    }


def changed_parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return `[old, new]` of each parameter that differs, `None` where it was not set."""
    return {
        name: [old.get(name), new.get(name)]
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    }

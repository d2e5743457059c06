"""Leaving elements out of a tree where cutting its strings does not suffice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopspan.telemetry.cutting import json_size
from loopspan.telemetry.nodes import Bag, Leaf, Node, weight

_SHARE = 160
"""What each element may claim, in bytes, before one of them gets more."""


def level(ranges: Sequence[tuple[int, int]], budget: int) -> int:
    """Return the highest level to which all may rise together, each within its own range."""
    low, high = 0, max((most for _, most in ranges), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(max(least, middle), most) for least, most in ranges) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def prune(node: Node, budget: int) -> None:
    """Leave elements out until cutting the strings of the tree suffices to fit `budget`.

    A budget below the node's `least` is not kept.
    """
    if not isinstance(node, Bag) or node.tight <= budget:
        return
    room = budget - 1 - node.mark_size()
    chosen, room = _chosen(node, room)
    if len(chosen) == len(node.items) and not node.left:
        room += node.mark_size()
    ranges = [(claim, node.items[i].floor) for i, claim in chosen.items()]
    height = level(ranges, room + sum(chosen.values()))
    for index, claim in chosen.items():
        item = node.items[index]
        prune(item, min(max(claim, height), item.floor))
    _keep(node, sorted(chosen))


def _chosen(bag: Bag, room: int) -> tuple[dict[int, int], int]:
    """Return which elements stay, with what each may take at least, and the room that is left."""
    chosen: dict[int, int] = {}
    for index in bag.must:
        chosen[index] = bag.items[index].least
        room -= chosen[index] + bag.around(index)
    first = True
    for index in _by_weight(bag):
        if index in bag.must:
            continue
        item, around = bag.items[index], bag.around(index)
        claim = min(item.floor, max(item.least, _SHARE))
        if first and claim + around > room:
            claim = item.least
        if claim + around <= room:
            chosen[index] = claim
            room -= claim + around
            first = False
        elif bag.keys is None:
            break  # what is left out of a list is one stretch
    return chosen, room


def _by_weight(bag: Bag) -> Iterator[int]:
    """Yield the elements of a bag, those that matter most first."""
    count = len(bag.items)
    if not bag.newest or not count:
        yield from range(count)
        return
    systems = 0
    while systems < count - 1 and _is_system(bag.items[systems]):
        systems += 1
    yield count - 1
    yield from range(systems)
    yield from range(count - 2, systems - 1, -1)


def _is_system(node: Node) -> bool:
    if not isinstance(node, Bag) or node.keys is None or "role" not in node.keys:
        return False
    role = node.items[node.keys.index("role")]
    return isinstance(role, Leaf) and role.value in ("system", "developer")


def _keep(bag: Bag, kept: Sequence[int]) -> None:
    """Leave all other elements out and say how many they are."""
    staying = set(kept)
    gone = [i for i in range(len(bag.items)) if i not in staying]
    if not gone:
        return
    count = sum(weight(bag.items[i]) for i in gone)
    bag.items = [bag.items[i] for i in kept]
    if bag.keys is not None:
        bag.keys = [bag.keys[i] for i in kept]
        bag.left += count
    else:
        mark = bag.mark(count)
        bag.items.insert(gone[0], Leaf(mark, json_size(mark), count))

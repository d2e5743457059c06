"""A JSON value as a tree that knows what may be cut of it, and how small it can become.

Sizes are in bytes of compact JSON. The `floor` of a node is what it takes with its strings cut
short, `tight` with nothing left of them but their marks, its `least` with everything left out that
may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from loopspan.telemetry import semconv as names
from loopspan.telemetry.cutting import cut_text, json_size, mark_size

SHORT = 80
"""What is worth showing of a string, where others have to be left out for it."""

_SHORTEST_MARK = 30
_DEEPEST = 64
_IDENTITY = frozenset(
    {
        "role",
        "type",
        "id",
        "name",
        "finish_reason",
        "modality",
        "mime_type",
        "is_error",
        "file_id",
        "bytes",
        names.RESULT_OF,
        names.LEFT_OUT,
        names.NOT_RECORDED,
    }
)
_CARRYING = frozenset({"parts", "content", "arguments", "response", "body", "uri"})
_MEDIA_TYPES = frozenset({"mime_type", "mimeType", "media_type"})
_DATA_URL = re.compile(r"data:[^,]{0,100};base64,")
_MARK_KEY = "…"
_LEFT_OUT = re.compile(r"\[?(\d+) left out\]?")


Holds: TypeAlias = Literal["values", "messages", "choices", "parts"]


@dataclass(slots=True)
class Leaf:
    """A value that stays as it is; it may be the mark of `weight` elements that were left out."""

    value: Any
    size: int
    weight: int = 1

    @property
    def floor(self) -> int:
        return self.size

    @property
    def tight(self) -> int:
        return self.size

    @property
    def least(self) -> int:
        return self.size


@dataclass(slots=True)
class Line:
    """A string that may be cut."""

    value: str
    size: int
    least: int

    @property
    def floor(self) -> int:
        return min(self.size, max(SHORT, self.least))

    @property
    def tight(self) -> int:
        return self.least


@dataclass(slots=True)
class Bag:
    """An object, or a list where `keys` is `None`, of which elements may be left out.

    `must` are the elements that stay as long as the bag does; `newest` says that the last
    elements matter most; `holds` what the mark among them has to look like; `left` counts what
    is out of an object already.
    """

    keys: list[str] | None
    items: list[Node]
    must: frozenset[int] = frozenset()
    newest: bool = False
    holds: Holds = "values"
    left: int = 0
    floor: int = 0
    tight: int = 0
    least: int = 0

    def __post_init__(self) -> None:
        around = [self.around(i) for i in range(len(self.items))]
        own = 1 + sum(around) + (self.mark_size() if self.left else 0)
        bare = 1 + self.mark_size() + sum(around[i] + self.items[i].least for i in self.must)
        self.floor = max(2, own + sum(item.floor for item in self.items))
        self.tight = max(2, own + sum(item.tight for item in self.items))
        self.least = min(self.tight, bare)

    def around(self, index: int) -> int:
        """Return what an element takes beside itself: its key, its colon, its comma."""
        return 1 if self.keys is None else 2 + json_size(self.keys[index])

    def mark(self, count: int) -> Any:
        """Return the element that says how many were left out."""
        if self.keys is not None:
            return f"{count} left out"
        said = f"[{count} left out]"
        text = {"type": "text", "content": said}
        match self.holds:
            case "values":
                return said
            case "parts":
                return {**text, "name": "left_out", names.LEFT_OUT: count}
            case "messages":
                return {"role": "left_out", "parts": [text], names.LEFT_OUT: count}
            case "choices":
                mark = {"role": "left_out", "parts": [text], names.LEFT_OUT: count}
                return {**mark, "finish_reason": "left_out"}

    def mark_size(self) -> int:
        """Return the most bytes that the mark takes, its key and its comma too."""
        key = 0 if self.keys is None else json_size(_MARK_KEY) + 1
        return 1 + key + json_size(self.mark(self.left + sum(map(weight, self.items))))


Node: TypeAlias = Leaf | Line | Bag


def weight(node: Node) -> int:
    """Return for how many elements a node stands."""
    return node.weight if isinstance(node, Leaf) else 1


def lines(node: Node) -> Iterator[Line]:
    """Yield all strings that may be cut."""
    match node:
        case Line():
            yield node
        case Bag():
            for item in node.items:
                yield from lines(item)


def plain(node: Node) -> Any:
    """Return the JSON value of a tree."""
    if not isinstance(node, Bag):
        return node.value
    values = [plain(item) for item in node.items]
    if node.keys is None:
        return values
    mark = {_MARK_KEY: node.mark(node.left)} if node.left else {}
    return {**dict(zip(node.keys, values, strict=True)), **mark}


def size(node: Node) -> int:
    """Return what the tree takes with its strings whole."""
    if not isinstance(node, Bag):
        return node.size
    mark = node.mark_size() if node.left else 0
    return max(2, 1 + mark + sum(node.around(i) + size(n) for i, n in enumerate(node.items)))


def tree(value: Any) -> Node:
    """Return the tree of a JSON value; lists of messages, parts and tools are known by their shape.

    Base64 is out of it already: a cut image shows nothing.
    """
    return _records(value) if isinstance(value, list) else _node(value, 0)


def _node(value: Any, depth: int) -> Node:
    match value:
        case dict() | list() if value and depth >= _DEEPEST:
            return _leaf("[left out: nested too deeply]")
        case dict():
            return _object(value, depth, formal=False)
        case list():
            return _list(value, depth)
        case str():
            return _line(value)
        case _:
            return _leaf(value)


def _leaf(value: Any) -> Leaf:
    return Leaf(value, json_size(value))


def _line(value: str) -> Leaf | Line:
    data_url = _DATA_URL.match(value)
    if data_url is not None:
        return _base64(value, data_url.end())
    size = json_size(value)
    if size <= _SHORTEST_MARK:
        return Leaf(value, size)
    least = mark_size(value) + 2
    return Line(value, size, least) if least < size else Leaf(value, size)


def _base64(value: str, start: int = 0) -> Leaf:
    """Return base64 cut to nothing from `start` on, whole where the mark is no shorter."""
    cut = _leaf(value[:start] + cut_text(value[start:], 0, escaped=True))
    whole = _leaf(value)
    return min(cut, whole, key=lambda leaf: leaf.size)


def _records(value: list[Any]) -> Bag:
    """Return a list of messages, parts or tools, the identity of each of them whole."""
    objects = [item for item in value if isinstance(item, dict)]
    if not any(isinstance(item.get("role", item.get("type")), str) for item in objects):
        return _list(value, 0)
    items: list[Node] = [
        _object(item, 1, formal=True) if isinstance(item, dict) else _node(item, 1)
        for item in value
    ]
    if not all("role" in item for item in objects):
        return Bag(None, items, holds="parts")
    choices = all("finish_reason" in item for item in objects)
    return Bag(None, items, newest=not choices, holds="choices" if choices else "messages")


def _list(value: list[Any], depth: int) -> Bag:
    items = [_element(item, depth + 1) for item in value]
    return Bag(None, items, newest=all(isinstance(i, dict) and "role" in i for i in value))


def _element(value: Any, depth: int) -> Node:
    earlier = _left_out(value)
    return Leaf(value, json_size(value), earlier) if earlier else _node(value, depth)


def _object(value: dict[str, Any], depth: int, *, formal: bool) -> Leaf | Bag:
    """Return an object; of a `formal` one, a message or a part, the identity stays whole."""
    told = value.get(names.LEFT_OUT)
    if formal and isinstance(told, int):
        return Leaf(value, json_size(value), told)
    left = _left_out(value.get(_MARK_KEY))
    keys = [key for key in value if not (left and key == _MARK_KEY)]
    items = [_field(value, key, depth, formal=formal) for key in keys]
    must = [i for i, key in enumerate(keys) if _stays(key, items[i], formal=formal)]
    return Bag(keys, items, frozenset(must), left=left)


def _stays(key: str, item: Node, *, formal: bool) -> bool:
    if formal and key in _CARRYING:
        return True
    return key in _IDENTITY and isinstance(item, Leaf) and (formal or item.size <= SHORT)


def _field(value: Mapping[str, Any], key: str, depth: int, *, formal: bool) -> Node:
    item = value[key]
    match item:
        case str() if key == _blob_key(value):
            return _base64(item)
        case list() if formal and key == "parts":
            return _records(item)
        case dict() | list():
            return _node(item, depth + 1)
        case _ if formal and key in _IDENTITY:
            return _leaf(item)
        case _:
            return _node(item, depth + 1)


def _blob_key(value: Mapping[str, Any]) -> str | None:
    """Return the key under which an object holds base64."""
    if value.get("type") == "blob":
        return "content"
    return "data" if not _MEDIA_TYPES.isdisjoint(value) else None


def _left_out(mark: Any) -> int:
    found = _LEFT_OUT.fullmatch(mark) if isinstance(mark, str) else None
    return int(found[1]) if found else 0

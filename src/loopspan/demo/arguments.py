"""Arguments for a call, made from a tool's JSON Schema and what the prompt says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopspan.demo.clues import Clues
from loopspan.demo.schemas import Schema, bounded, kind, resolved, shortened

_DEEPEST = 5
_PROSE = """
    body code comment content command description expression formula input keywords message note
    phrase prompt q query question search sentence sql subject term text title topic
"""
_FREE_TEXT = frozenset(_PROSE.split())
"""Parameters that take what is left of the prompt rather than a name in it."""
_AMOUNTS = frozenset({"amount", "count", "first", "last", "limit", "max", "n", "number", "top"})
"""Parameters that take any number that the prompt has for the tool."""
_FORMATS = {
    "date": "2025-01-01",
    "date-time": "2025-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
"""What stands in for a text of a format that the prompt does not have."""


def arguments(schema: Schema, near: Clues, whole: Clues) -> dict[str, Any]:
    """Return arguments of a tool: all required ones, and the others that the prompt speaks of.

    `near` is the part of the prompt that is about the tool; where it does not say enough for a
    required one, the `whole` prompt does. No value is used twice.
    """
    return _Filling(schema, near, whole).object(resolved(schema, schema), 0)


class _Filling:
    """The arguments of one call under work."""

    def __init__(self, root: Schema, near: Clues, whole: Clues) -> None:
        self._root = root
        self._near = near
        self._whole = whole
        self._texts = _unique(near.quotes, near.special, near.names)
        self._more = _unique(whole.quotes, whole.special, whole.names)
        self._sure = _unique(near.quotes, near.special)
        self._numbers = [*near.numbers]
        self._more_numbers = [n for n in whole.numbers if n not in near.numbers]
        self._used: set[str] = set()

    def object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or depth > _DEEPEST:
            return {}
        required = schema.get("required")
        required = required if isinstance(required, list) else []
        result: dict[str, Any] = {}
        # What must be there takes its values first.
        for name in sorted(properties, key=lambda name: name not in required):
            inner = resolved(properties[name], self._root)
            if name in required:
                result[name] = self._required(name, inner, depth)
            elif (value := self._optional(name, inner)) is not None:
                result[name] = value
        return {name: result[name] for name in properties if name in result}

    def _required(self, name: str, schema: Schema, depth: int) -> Any:
        if "const" in schema:
            return schema["const"]
        if isinstance(values := schema.get("enum"), list) and values:
            return self._chosen(values, schema.get("default", values[0]))
        match kind(schema):
            case "object":
                return self.object(schema, depth + 1)
            case "array":
                return self._array(name, schema, depth + 1)
            case "integer" | "number":
                return self._number(name, schema)
            case "boolean":
                return self._boolean(name, bool(schema.get("default", True)))
            case "null":
                return None
        return shortened(self._text(name, schema), schema)

    def _optional(self, name: str, schema: Schema) -> Any:
        """Return a value that the prompt clearly gives, else `None`."""
        if isinstance(values := schema.get("enum"), list):
            return self._chosen(values, None)
        match kind(schema):
            case "integer" | "number":
                told = self._counted(name)
                if told is None and self._numbers and name.lower() in _AMOUNTS:
                    told = self._numbers.pop(0)
                return None if told is None else bounded(told, schema)
            case "boolean":
                said = self._near.mentions(name)
                return self._boolean(name, True) if said else None
            case "string":
                labelled = self._near.labelled(name)
                text = labelled or next((t for t in self._sure if t not in self._used), None)
                if text is not None:
                    self._used.add(text)
                    return shortened(text, schema)
        return None

    def _chosen(self, values: list[Any], default: Any) -> Any:
        for clues in (self._near, self._whole):
            for value in values:
                if clues.mentions(str(value)) or value in clues.numbers:
                    return value
        return default

    def _boolean(self, name: str, default: bool) -> bool:
        return False if self._near.denies(name) else default or self._near.mentions(name)

    def _number(self, name: str, schema: Schema) -> int | float:
        told = self._counted(name)
        for numbers in (self._numbers, self._more_numbers):
            if told is None and numbers:
                told = numbers.pop(0)
        return bounded(schema.get("default", 1) if told is None else told, schema)

    def _counted(self, name: str) -> int | float | None:
        told = self._near.counted(name)
        if told in self._numbers:
            self._numbers.remove(told)
        return told

    def _text(self, name: str, schema: Schema) -> str:
        text = self._near.labelled(name) or self._of_format(schema)
        if text is None and name.lower() in _FREE_TEXT and not self._near.quotes:
            text = self._near.phrase or None
        if text is None:
            unused = (t for t in (*self._texts, *self._more) if t not in self._used)
            text = next(unused, None) or schema.get("default")
        if not isinstance(text, str):
            text = self._near.subject or self._whole.subject or self._whole.text.strip() or name
        self._used.add(text)
        return text

    def _of_format(self, schema: Schema) -> str | None:
        form = schema.get("format")
        if form not in _FORMATS:
            return None
        wanted = {"email": "@", "uri": "://", "time": ":"}.get(form, "-")
        found = self._whole.dates if form.startswith("date") else self._whole.special
        fitting = (t for t in found if wanted in t and t not in self._used)
        text = next(fitting, _FORMATS[form])
        if form == "date-time" and "T" not in text:
            return f"{text}T00:00:00Z"
        return text[:10] if form == "date" else text

    def _array(self, name: str, schema: Schema, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            return []
        if isinstance(places := schema.get("prefixItems"), list):
            return [self._required(name, resolved(p, self._root), depth) for p in places]
        items = resolved(schema.get("items"), self._root)
        if isinstance(values := items.get("enum"), list) and values:
            found = [v for v in values if self._near.mentions(str(v))] or [values[0]]
        elif kind(items) in ("integer", "number"):
            numbers = self._numbers or self._more_numbers
            found = [bounded(n, items) for n in numbers]
            numbers.clear()
        elif kind(items) == "string":
            found = [t for t in self._texts if t not in self._used]
            self._used.update(found)
        else:
            found = []
        return self._sized(name, schema, items, found, depth)

    def _sized(
        self, name: str, schema: Schema, items: Schema, found: list[Any], depth: int
    ) -> list[Any]:
        """Return as many items as the schema wants, one at least."""
        least, most = schema.get("minItems", 1), schema.get("maxItems")
        least = min(max(least, 1), 10) if isinstance(least, int) else 1
        if most == 0:
            return []
        while len(found) < least:
            found.append(self._required(name, items, depth))
        return found[:most] if isinstance(most, int) else found


def _unique(*lists: list[str]) -> list[str]:
    return list(dict.fromkeys(text for found in lists for text in found))

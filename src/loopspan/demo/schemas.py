"""JSON Schemas as far as arguments need them; what is odd in one is passed over.

https://json-schema.org/draft/2020-12/json-schema-validation
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_LONGEST_CHAIN = 10
_LARGEST = 1e15
_DEEPEST = 3
"""How deep `allOf` is followed; a schema may refer to itself."""


def resolved(schema: Any, root: Schema, depth: int = 0) -> dict[str, Any]:
    """Return a schema with its reference followed and its first alternative that is not null."""
    merged: dict[str, Any] = {}
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(schema, Mapping):
            break
        rest = {k: v for k, v in schema.items() if k not in ("$ref", "allOf", "anyOf", "oneOf")}
        merged = {**rest, **merged}
        if isinstance(schema.get("$ref"), str):
            schema = _pointed(schema["$ref"], root)
        elif isinstance(parts := schema.get("allOf"), list):
            within = parts if depth < _DEEPEST else ()
            schema = _together([resolved(part, root, depth + 1) for part in within])
        else:
            schema = _alternative(schema)
    return merged


def _pointed(reference: str, root: Schema) -> Any:
    """Return what a reference within the schema points to (RFC 6901)."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    return found


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what all parts say; properties add up."""
    result: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            known = result.get(key)
            if isinstance(known, dict) and isinstance(value, dict):
                value = {**known, **value}
            elif isinstance(known, list) and isinstance(value, list) and key == "required":
                value = [*known, *value]
            result[key] = value
    return result


def _alternative(schema: Schema) -> Any:
    for key in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(key), list):
            filled = (c for c in choices if isinstance(c, Mapping) and c.get("type") != "null")
            return next(filled, None)
    return None


def kind(schema: Schema) -> str:
    """Return the type that a value is to have; text where nothing is said."""
    said = schema.get("type")
    if isinstance(said, list):
        said = next((name for name in said if name != "null"), "null")
    if isinstance(said, str):
        return said
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"


def bounded(value: Any, schema: Schema) -> int | float:
    """Return the nearest number that the bounds of the schema allow."""
    whole = kind(schema) == "integer"
    step = 1 if whole else 0.1
    low = _bound(schema, "minimum", -math.inf)
    high = _bound(schema, "maximum", math.inf)
    above = _bound(schema, "exclusiveMinimum", -math.inf)
    below = _bound(schema, "exclusiveMaximum", math.inf)
    number = _number(value)
    result = 1 if number is None else int(number) if whole else number
    result = min(result, high)
    result = below - step if result >= below else result
    result = max(result, low)
    result = above + step if result <= above else result
    return math.ceil(result) if whole else result


def _bound(schema: Schema, name: str, default: float) -> float:
    number = _number(schema.get(name))
    return default if number is None else number


def shortened(text: str, schema: Schema) -> str:
    """Return the text, cut where the schema wants it shorter."""
    longest = schema.get("maxLength")
    return text[:longest] if isinstance(longest, int) and longest >= 0 else text


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < _LARGEST else None

"""Reading attributes tolerantly: what is absent, cut or of another type is `None`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopspan.jsontext import load
from loopspan.telemetry import semconv as names


def text(attributes: Mapping[str, Any], name: str) -> str | None:
    """Return a text attribute."""
    value = attributes.get(name)
    return value if isinstance(value, str) else None


def first(attributes: Mapping[str, Any], name: str) -> str | None:
    """Return the first of a list of texts."""
    match attributes.get(name):
        case [str(value), *_]:
            return value
        case _:
            return None


def integer(attributes: Mapping[str, Any], name: str) -> int | None:
    """Return a whole number."""
    value = attributes.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and abs(value) != float("inf") else None


def number(attributes: Mapping[str, Any], name: str) -> float | None:
    """Return a number."""
    value = attributes.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def structure(attributes: Mapping[str, Any], name: str) -> Any:
    """Return a JSON attribute, given as text or as a structure; `None` where it does not parse."""
    value = attributes.get(name)
    if not isinstance(value, str):
        return value
    try:
        return load(value)
    except ValueError:
        return None


def damaged(attributes: Mapping[str, Any], name: str) -> str | None:
    """Return a sentence about a JSON attribute that does not parse, `None` where nothing is wrong.

    A backend with a limit on attributes cuts them at a byte, and leaves no JSON.
    """
    value = attributes.get(name)
    if not isinstance(value, str):
        return None
    try:
        load(value)
    except ValueError:
        size = len(value.encode("utf-8", "replace"))
        return f"its {size:,} bytes are no JSON; a limit on attributes may have cut them"
    return None


def objects(attributes: Mapping[str, Any], name: str) -> tuple[dict[str, Any], ...] | None:
    """Return a JSON list of objects."""
    value = structure(attributes, name)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    return tuple(dict(item) for item in value if isinstance(item, Mapping))


def is_placeholder(value: Any) -> bool:
    """Whether this stands for arguments or a result of a tool that is not recorded."""
    return isinstance(value, Mapping) and names.NOT_RECORDED in value

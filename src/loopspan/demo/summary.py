"""Tool results in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopspan.jsontext import dump_text, load

_MOST_FACTS = 6
_MOST_ITEMS = 4
_DEEPEST = 2
_LONGEST = 300


def summary(name: str, result: str) -> str:
    """Return what a tool told, in a sentence."""
    value = _value(result)
    if (error := _error(value)) is not None:
        return f"{name} failed: {_ended(_short(error))}"
    if _is_empty(value):
        return f"{name} gives an empty result."
    match value:
        case str():
            text = _short(value.strip())
            return f"{name} says: {_ended(text)}" if text else f"{name} says nothing."
        case dict():
            return f"{name} says: {_facts(value, 0)}."
        case list() if _is_flat(value):
            return f"{name} gives {_counted(value, 'value')}: {_listed(value)}."
        case list():
            return f"{name} gives {_counted(value, 'entry')}, the first with {_said(value[0], 1)}."
    return f"{name} says: {_scalar(value)}."


def _value(result: str) -> Any:
    """Return the value of a result that is JSON; a bare text is one already."""
    try:
        return load(result)
    except ValueError:
        return result


def _error(value: Any) -> str | None:
    match value:
        case str() if value.startswith("Error:"):
            return value.removeprefix("Error:").strip()
        case {"error": error} if error:
            return error if isinstance(error, str) else _said(error, 1)
        case {"isError": True} | {"is_error": True}:
            return _facts({k: v for k, v in value.items() if v is not True}, 0)
    return None


def _facts(value: Mapping[str, Any], depth: int) -> str:
    """Return the pairs of an object; those after the first few are counted only."""
    shown = _MOST_FACTS if depth == 0 else _MOST_ITEMS
    pairs = [_fact(key, inner, depth + 1) for key, inner in [*value.items()][:shown]]
    more = len(value) - shown
    return ", ".join(pairs) + (f" and {more} more" if more > 0 else "")


def _fact(key: str, value: Any, depth: int) -> str:
    spoken = _short(key.replace("_", " ").strip()) or repr(key)
    match value:
        case _ if _is_empty(value):
            return f"no {spoken}"
        case dict():
            return f"{spoken} ({_said(value, depth)})"
        case list():
            return f"{spoken}: {_said(value, depth)}"
    return f"{spoken} is {_scalar(value)}"


def _said(value: Any, depth: int) -> str:
    match value:
        case _ if _is_empty(value):
            return "nothing"
        case list() if _is_flat(value):
            return _listed(value)
        case dict() | list() if depth > _DEEPEST:
            return _counted(value, "entry")
        case dict():
            return _facts(value, depth)
        case list():
            return f"{_counted(value, 'entry')}, the first with {_said(value[0], depth + 1)}"
    return _scalar(value)


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict | list) and not value


def _is_flat(values: list[Any]) -> bool:
    return not any(isinstance(value, dict | list) for value in values)


def _listed(values: list[Any]) -> str:
    shown = [_scalar(value) for value in values[:_MOST_ITEMS]]
    if (more := len(values) - len(shown)) > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _counted(values: Any, noun: str) -> str:
    if len(values) == 1:
        return f"1 {noun}"
    return f"{len(values)} {noun.removesuffix('y')}{'ies' if noun.endswith('y') else 's'}"


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "unknown"
        case str():
            return _short(value) or "empty"
    return _short(dump_text(value))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}…"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."

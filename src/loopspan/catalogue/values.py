"""What may stand anywhere in a catalogue: plain values of a sane size, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loopspan.catalogue.places import Location, place, shown
from loopspan.errors import ConfigurationError

MAX_DEPTH = 20

_SECRET = re.compile(
    r"(?:^|_)(?:api_?key|(?:access|private|secret)_?key|token|secret|password|passwd|credentials?"
    r"|authorization)$"
)


def check_values(path: Path, document: Mapping[str, Any]) -> None:
    """Raise `ConfigurationError` for a value that no table may have, whatever its key."""
    for location, value in _values(document):
        where = place(path, location)
        if len(location) > MAX_DEPTH:
            raise ConfigurationError(f"{where}: expected at most {MAX_DEPTH} tables in each other")
        if isinstance(value, str) and _is_secret(location):
            raise ConfigurationError(
                f"{where} holds a secret; take it out: keys are never read from a file, set the "
                f"provider's environment variable"
            )
        wanted = _wanted(value)
        if wanted is not None:
            raise ConfigurationError(f"{where}: expected {wanted}, got {shown(value)}")


def _values(document: Mapping[str, Any]) -> Iterator[tuple[Location, Any]]:
    """Give each value with its place, tables before what is in them, down to where none may be."""
    # Not recursive: a key of many dots makes tables that no stack is deep enough for.
    todo: list[tuple[tuple[str | int, ...], Any]] = [((key,), document[key]) for key in document]
    while todo:
        location, value = todo.pop()
        yield location, value
        match value:
            case dict():
                todo += (((*location, key), value[key]) for key in reversed(value))
            case list():
                todo += (((*location, index), each) for index, each in enumerate(value))


def _wanted(value: object) -> str | None:
    match value:
        case bool() | str() | dict() | list():
            return None
        case int():
            return None if -(2**63) <= value < 2**63 else "a number of at most 64 bits"
        case float():
            return None if abs(value) < float("inf") else "a finite number"
        case _:
            return "a text, number, true, false, list or table"


def _is_secret(location: Location) -> bool:
    key = next(each for each in reversed(location) if isinstance(each, str))
    if location[0] == "skill_sources" and "checksums" in location:
        return False  # the keys are names of skills
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()
    return _SECRET.search(words) is not None

"""JSON text in and out, fast and total: bad text gives `ValueError`, odd values valid JSON."""

import json
from typing import Any

from pydantic_core import from_json, to_json


def dump(value: object) -> bytes:
    """Return compact UTF-8 JSON of any value.

    What JSON cannot hold is written as what a reader can still use: NaN and infinities as `null`,
    lone surrogates as U+FFFD, bytes as base64, unknown objects as their text.
    """
    try:
        return to_json(value, inf_nan_mode="null", bytes_mode="base64", fallback=str)
    except ValueError:
        return to_json(_mended(value, 0), inf_nan_mode="null", bytes_mode="base64", fallback=str)


def dump_text(value: object) -> str:
    """Return `dump(value)` as text."""
    return dump(value).decode()


def load(text: str | bytes) -> Any:
    """Return the value of a JSON text; raises `ValueError` for anything that is none."""
    try:
        return from_json(text)
    except (TypeError, ValueError):  # `TypeError` for text that cannot be encoded
        pass
    # The standard module reads what the fast one refuses: lone surrogates and a byte order mark.
    try:
        return json.loads(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD, so that it can be encoded."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_DEEPEST = 100


def _mended(value: object, depth: int) -> object:
    if depth > _DEEPEST:
        return "nested too deeply"
    match value:
        case str():
            return well_formed(value)
        case dict():
            return {well_formed(str(k)): _mended(v, depth + 1) for k, v in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_mended(item, depth + 1) for item in value]
        case _:
            return value

"""What a tool returned, as the text that the model gets."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from loopspan.jsontext import dump_text, well_formed

RESULT_LIMIT = 50_000
"""The most bytes of UTF-8 that a tool result may have."""

_ELLIPSIS = "…"


def result_text(value: object) -> str:
    """Return text as it is, and anything else as JSON (models, dataclasses, dates too)."""
    return well_formed(value) if isinstance(value, str) else dump_text(value)


def cap(text: str, limit: int = RESULT_LIMIT) -> tuple[str, int | None]:
    """Return the text cut to `limit` bytes of UTF-8, and its size in bytes where it was cut.

    The cut is at a character and is marked inside the limit; where the limit is too small for
    the whole marker it is an ellipsis, and where it is too small for that, nothing is left.
    """
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    if size <= limit:
        return text, None
    for marker in (cut_mark(limit, size), _ELLIPSIS):
        room = limit - len(marker.encode())
        if room >= 0:
            kept = data[:room].decode("utf-8", "ignore")
            exact = cut_mark(len(kept.encode()), size)
            return kept + (exact if marker != _ELLIPSIS else _ELLIPSIS), size
    return "", size


def cut_mark(kept: int, size: int) -> str:
    """Return the mark at the end of a text of which so many bytes were kept."""
    return f"{_ELLIPSIS} [cut: {kept:,} of {size:,} bytes kept]"


def returned_error(value: object) -> bool:
    """Whether a tool that ran says itself that it failed.

    It does so with a truthy `error` in the mapping or model that it returned, or with `isError`
    (Model Context Protocol) or `is_error` being true.
    """
    match value:
        case BaseModel():
            fields: Mapping[object, object] = dict(value)
        case Mapping():
            fields = value
        case _:
            return False
    flagged = fields.get("isError") is True or fields.get("is_error") is True
    return flagged or bool(fields.get("error"))

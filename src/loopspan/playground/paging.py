"""Query parameters and pages: a list never stops silently."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from starlette.requests import Request

from loopspan.playground.answers import Problem

T = TypeVar("T")


def whole(request: Request, name: str, default: int, most: int | None = None) -> int:
    """Return a whole number of the query, at most `most`; raises a `Problem` for anything else."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise Problem(422, "invalid", f"{name} is no whole number of 0 or more")
    return int(text) if most is None else min(int(text), most)


def path_number(request: Request, name: str) -> int:
    """Return a number of the path; raises a `Problem` where nothing can be there."""
    text = str(request.path_params[name])
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise Problem(404, "not_found", f"{name} is a whole number")
    return int(text)


def cursor(*parts: str) -> str:
    """Return an opaque text for where a page ends."""
    return base64.urlsafe_b64encode("\0".join(parts).encode()).decode()


def parts_of(text: str, count: int) -> list[str]:
    """Return what a cursor was made of; raises a `Problem` where it is none of ours."""
    try:
        parts = base64.urlsafe_b64decode(text.encode()).decode().split("\0")
    except (binascii.Error, ValueError):
        parts = []
    if len(parts) != count:
        raise Problem(422, "invalid", "this cursor is none that was given out")
    return parts


def page(items: Sequence[T], offset: int, limit: int) -> tuple[Sequence[T], int | None]:
    """Return a stretch of a list and where the next one begins."""
    end = offset + limit
    return items[offset:end], end if end < len(items) else None

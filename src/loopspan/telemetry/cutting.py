"""Cutting one text at a character, with a mark that says how long it was."""

from __future__ import annotations

import re

from loopspan.jsontext import dump, load, well_formed
from loopspan.tools.results import cut_mark

_MARK = re.compile(r"… \[cut: [\d,]+ of ([\d,]+) bytes kept\]\Z")
_LONGEST_MARK = 80


def byte_count(text: str) -> int:
    """Return the size of a text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def json_size(value: object) -> int:
    """Return the size of a value in bytes of JSON."""
    return len(dump(value))


def mark_size(text: str) -> int:
    """Return the most bytes that the mark of this text takes when it is cut."""
    size = _unmarked(text)[1]
    return byte_count(cut_mark(size, size))


def cut_text(text: str, room: int, *, escaped: bool) -> str:
    """Return the text in at most `room` bytes, or, `escaped`, in so many between quotes of JSON.

    The mark is inside; where it was cut before, the mark says how long the text was first.
    """
    text, size = _unmarked(text)
    room = max(0, room - byte_count(cut_mark(size, size)))
    start = well_formed(text[:room])
    kept = _fitting(start, room) if escaped else start.encode()[:room].decode("utf-8", "ignore")
    return kept + cut_mark(byte_count(kept), size)


def _unmarked(text: str) -> tuple[str, int]:
    """Return the text without the mark of an earlier cut, and the size that it had before that."""
    mark = _MARK.search(text, max(0, len(text) - _LONGEST_MARK))
    if mark is None:
        return text, byte_count(text)
    return text[: mark.start()], int(mark[1].replace(",", ""))


def _fitting(text: str, room: int) -> str:
    """Return the longest start of a text that takes at most `room` bytes between quotes of JSON."""
    escaped = dump(text)[1:-1]
    if len(escaped) <= room:
        return text
    start = escaped[:room].decode("utf-8", "ignore")
    whole: str = load(f'"{start[: _end_of_whole(start)]}"')
    return whole


def _end_of_whole(start: str) -> int:
    """Return where a start of escaped text ends without the escape that was cut in its middle."""
    at = start.rfind("\\")
    if at < 0:
        return len(start)
    backslashes = at + 1 - len(start[: at + 1].rstrip("\\"))
    needed = 6 if start[at + 1 : at + 2] == "u" else 2
    return at if backslashes % 2 and len(start) - at < needed else len(start)

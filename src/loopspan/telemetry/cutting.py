"""Cutting one text at a character, with a mark that says how long it was."""

from __future__ import annotations

import re

from loopspan.jsontext import dump, well_formed
from loopspan.tools.results import cut_mark

_MARK = re.compile(r"… \[cut: [\d,]+ of ([\d,]+) bytes kept\]\Z")
_LONGEST_MARK = 80
_SHORT_ESCAPES = frozenset('"\\\n\r\t\b\f')


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
    used = 0
    for index, character in enumerate(text):
        used += _width(character)
        if used > room:
            return text[:index]
    return text


def _width(character: str) -> int:
    if character in _SHORT_ESCAPES:
        return 2
    if character < " ":
        return 6
    return byte_count(character)

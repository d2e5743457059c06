"""Raw bodies as span events, in parts that fit every receiver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopspan.telemetry import semconv as names

PART_BYTES = 32 * 1024
_WIDEST = 4
"""The most bytes of a character."""


def parts(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the attributes of the events that together hold a body, cut at characters."""
    yield from text_parts(body.decode("utf-8", "replace"))


def text_parts(text: str, size: int = PART_BYTES) -> Iterator[dict[str, Any]]:
    """Yield the attributes of the events that together hold a text, `size` bytes each at most."""
    pieces = list(_pieces(text, max(size, _WIDEST))) or [""]
    for number, piece in enumerate(pieces, 1):
        yield {names.RAW_BODY: piece, names.RAW_PART: number, names.RAW_PARTS: len(pieces)}


def _pieces(text: str, size: int) -> Iterator[str]:
    data = text.encode()
    at = 0
    while at < len(data):
        end = min(at + size, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[at:end].decode()
        at = end

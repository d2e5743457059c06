"""Times, tokens, money and long texts in the words that people read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from loopspan.runs.steps import TokenUsage
from loopspan.runs.text.visible import visible

_ROW = 100
"""The characters that count as one line of a text that is cut."""


def duration(milliseconds: float | None) -> str:
    """Return a time in the unit that suits it."""
    if milliseconds is None:
        return "no end recorded"
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.2f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02} s"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def tokens(usage: TokenUsage) -> str:
    """Return the tokens of a round or a run; what was not reported is unknown, not zero."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return "unknown"
    given = _part(usage.input_tokens, "in", usage.cache_read_input_tokens, "cached")
    answered = _part(usage.output_tokens, "out", usage.reasoning_output_tokens, "reasoning")
    return f"{given} / {answered}"


def usd(cost: float) -> str:
    """Return US dollars: cents for large sums, two significant digits for small ones."""
    if cost == 0:
        return "$0"
    digits = 2 if cost >= 1 else 1 - math.floor(math.log10(abs(cost)))
    return f"${cost:,.{max(2, min(digits, 9))}f}"


@dataclass(frozen=True, slots=True)
class Bytes:
    """A cap in bytes of UTF-8, where a plain number is one in lines."""

    limit: int


def cut(text: str, most: int | Bytes | None) -> tuple[list[str], str | None]:
    """Return the beginning of a text as lines, safe to show, and what to say of the rest."""
    if isinstance(most, Bytes):
        return _cut_bytes(text, most.limit)
    lines = visible(text).rstrip("\n").split("\n")
    if most is None:
        return lines, None
    kept: list[str] = []
    for line in lines:
        rows = max(1, math.ceil(len(line) / _ROW))
        if rows > most:
            if most:
                kept.append(line[: most * _ROW])
            break
        most -= rows
        kept.append(line)
    left = len(lines) - len(kept)
    if left:
        return kept, f"… {count(left, 'more line')}"
    lost = len(lines[-1]) - len(kept[-1])
    return kept, f"… {count(lost, 'more character')}" if lost else None


def _cut_bytes(text: str, limit: int) -> tuple[list[str], str | None]:
    data = text.encode("utf-8", "surrogatepass")
    end, rest = len(data), None
    if end > limit:
        end = limit
        while end and data[end] & 0xC0 == 0x80:  # not within a character
            end -= 1
        rest = f"… {len(data) - end:,} of {len(data):,} bytes left out"
    kept = data[:end].decode("utf-8", "surrogatepass")
    return visible(kept).rstrip("\n").split("\n"), rest


def one_line(text: str) -> str:
    """Return the beginning of a text, safe to show, on one line."""
    first, newline, _ = visible(text).strip().partition("\n")
    return f"{first[:_ROW]} …" if newline or len(first) > _ROW else first


def _part(total: int | None, word: str, detail: int | None, of: str) -> str:
    if total is None:
        return f"unknown {word}"
    return f"{total:,} {word}" + (f" ({detail:,} {of})" if detail else "")

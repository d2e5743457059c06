"""Times, tokens, money and long texts in the words that people read."""

from __future__ import annotations

import math

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


def cut(text: str, most: int | None) -> tuple[list[str], str | None]:
    """Return the first `most` lines of a text, safe to show, and what to say of the rest."""
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


def one_line(text: str) -> str:
    """Return the beginning of a text, safe to show, on one line."""
    first, newline, _ = visible(text).strip().partition("\n")
    return f"{first[:_ROW]} …" if newline or len(first) > _ROW else first


def _part(total: int | None, word: str, detail: int | None, of: str) -> str:
    if total is None:
        return f"unknown {word}"
    return f"{total:,} {word}" + (f" ({detail:,} {of})" if detail else "")

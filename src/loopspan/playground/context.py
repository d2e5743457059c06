"""How the tokens of a request are shared among what it is made of: estimates that add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopspan.playground.bodies import Shape
from loopspan.runs.steps import Context

BYTES_PER_TOKEN = 4.0
"""What is taken while no round of the run has reported a count."""

Parts = Mapping[tuple[str, str | None], int]
"""The bytes of a request by where they come from: the type of the origin and its id."""

DEFINITIONS = ("tool_definitions", None)


def shares(total: int, sizes: Sequence[int]) -> list[int]:
    """Return whole numbers that add up to `total`, in proportion to sizes (largest remainder)."""
    whole = sum(sizes)
    if whole == 0:
        return [0] * len(sizes)
    exact = [(total * size) // whole for size in sizes]
    left = total - sum(exact)
    by_remainder = sorted(range(len(sizes)), key=lambda i: (-(total * sizes[i] % whole), i))
    for i in by_remainder[:left]:
        exact[i] += 1
    return exact


def share(total: int, start: int, end: int, whole: int) -> int:
    """Return the part of `total` that lies between two of `whole` bytes; neighbours add up."""
    return 0 if whole == 0 else total * end // whole - total * start // whole


def context(
    told: Context | None, reserve: int, parts: Parts, used: int | None, source: str | None
) -> Shape:
    """Return the `Context` of a request: its window, and what takes how much of it."""
    window = None if told is None else told.window
    if used is None and told is not None:
        used, source = told.estimated_tokens, "estimated"
    tokens = shares(used or 0, list(parts.values()))
    return {
        "window": window,
        "window_source": None if told is None else told.window_source,
        "reserve": reserve,
        "parts": [
            {"type": kind, **({} if id is None else {"id": id}), "bytes": size, "tokens": count}
            for ((kind, id), size), count in zip(parts.items(), tokens, strict=True)
        ],
        "used": used,
        "used_source": None if used is None else source,
        "remaining": None if window is None or used is None else window - reserve - used,
    }

"""How the tokens of a request are shared among what it is made of: estimates that add up."""

from __future__ import annotations

from collections.abc import Sequence

from loopspan.playground.bodies import Shape
from loopspan.runs import RequestStep

BYTES_PER_TOKEN = 4.0
"""What is taken while no round of the run has reported a count."""


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


def context(
    step: RequestStep,
    messages: Sequence[Shape],
    tools: Sequence[Shape],
    used: int | None,
    source: str | None,
) -> Shape:
    """Return the `Context` of a request out of its messages and tools with their tokens."""
    told = step.context
    window = None if told is None else told.window
    reserve = step.parameters.get("max_tokens")
    reserve = reserve if isinstance(reserve, int) else 0
    if used is None and told is not None:
        used, source = told.estimated_tokens, "estimated"
    return {
        "window": window,
        "window_source": None if told is None else told.window_source,
        "reserve": reserve,
        "parts": _parts(messages, tools),
        "used": used,
        "used_source": None if used is None else source,
        "remaining": None if window is None or used is None else window - reserve - used,
    }


def _parts(messages: Sequence[Shape], tools: Sequence[Shape]) -> list[Shape]:
    found: dict[tuple[str, str | None], list[int]] = {}
    for message in messages:
        sizes = [(o["end"] or 0) - (o["start"] or 0) for o in message["origins"]]
        for origin, size, tokens in zip(
            message["origins"], sizes, shares(message["tokens"] or 0, sizes), strict=True
        ):
            total = found.setdefault((origin["type"], origin.get("id")), [0, 0])
            total[0] += size
            total[1] += tokens
    for tool in tools:
        total = found.setdefault(("tool_definitions", None), [0, 0])
        total[0] += tool["bytes"]
        total[1] += tool["tokens"] or 0
    return [
        {"type": kind, **({} if id is None else {"id": id}), "bytes": size, "tokens": tokens}
        for (kind, id), (size, tokens) in found.items()
    ]

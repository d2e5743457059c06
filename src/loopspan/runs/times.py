"""Where the time of a run went: waiting for the model, in tools, elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loopspan.runs.steps import ChatStep, Run, RunStep, ToolStep

Intervals = list[tuple[int, int]]
"""Apart from each other, in the order of their start, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Times:
    """The parts of a run's `duration_ms`: they add up to it.

    `tools_ms` is the time in tools while the model was not asked. A run without an end has no
    `other_ms`, and the rest is what its steps have taken so far.
    """

    model_ms: float
    tools_ms: float
    other_ms: float | None


def times(run: Run) -> Times:
    """Return where the time of a run went; steps side by side count once."""
    whole = None if run.duration_ms is None else round(run.duration_ms * 1e6)
    end = None if whole is None else run.started_at + whole
    model = _union((s for s in run.steps if isinstance(s, ChatStep)), run.started_at, end)
    busy = _union((s for s in run.steps if isinstance(s, ChatStep | ToolStep)), run.started_at, end)
    asked, both = _length(model), _length(busy)
    other = None if whole is None else (whole - both) / 1e6
    return Times(asked / 1e6, (both - asked) / 1e6, other)


def _union(steps: Iterable[RunStep], start: int, end: int | None) -> Intervals:
    """Return when at least one of the steps went on, inside the run."""
    found: Intervals = []
    for begins, ends in sorted(_interval(step) for step in steps):
        begins, ends = max(begins, start), ends if end is None else min(ends, end)
        if ends <= begins:
            continue
        if found and begins <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ends))
        else:
            found.append((begins, ends))
    return found


def _interval(step: RunStep) -> tuple[int, int]:
    return step.started_at, step.started_at + round((step.duration_ms or 0.0) * 1e6)


def _length(intervals: Sequence[tuple[int, int]]) -> int:
    return sum(ends - begins for begins, ends in intervals)

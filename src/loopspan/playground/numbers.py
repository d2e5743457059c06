"""The numbers of steps: the order of start in the run, from 1, the same from every source."""

from __future__ import annotations

from collections.abc import Iterable

from loopspan.runs import ChatStep, RequestStep, RunStep


def numbers(steps: Iterable[RunStep]) -> list[int]:
    """Return the number of each step; an answer has one from the start of its request on."""
    found: list[int] = []
    answers: dict[str | None, int] = {}
    last = 0
    for step in steps:
        if isinstance(step, ChatStep) and step.span_id in answers:
            found.append(answers.pop(step.span_id))
            continue
        last += 1
        found.append(last)
        if isinstance(step, RequestStep):
            last += 1
            answers[step.span_id] = last
    return found

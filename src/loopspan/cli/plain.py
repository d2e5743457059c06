"""A run as plain lines, for pipes, files and terminals that can do no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.runs import Run, RunStep
from loopspan.runs.text.lines import Line
from loopspan.runs.text.steps import StepText
from loopspan.runs.text.summary import summary


class PlainView:
    """Writes each step when it is over, a request before its answer; no control codes."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._text = StepText()

    def step(self, step: RunStep) -> None:
        """Write a step, once."""
        if step.state != "open":
            self.write([*self._text.lines(step), Line()])

    def delta(self, delta: TextDelta | ReasoningDelta) -> None:
        """Do nothing: the whole reply follows."""

    def run(self, run: Run) -> None:
        """Write how the run came out."""
        self.write(summary(run).lines())

    def close(self) -> None:
        """Do nothing: each step is flushed already."""

    def write(self, lines: Iterable[Line]) -> None:
        """Write lines and flush them."""
        self._out.write("".join(f"{line}\n" for line in lines))
        self._out.flush()

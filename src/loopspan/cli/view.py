"""A run in a terminal, live: what is over stands above, what goes on moves below."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.rule import Rule
from rich.text import Text

from loopspan.cli.now import Now
from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.runs import ChatStep, RequestStep, Run, RunStep, ToolStep
from loopspan.runs.text.lines import Line, Style
from loopspan.runs.text.steps import StepText
from loopspan.runs.text.summary import Summary, summary

STYLES: Mapping[Style, str] = {
    "plain": "",
    "round": "bold cyan",
    "reply": "bold green",
    "tool": "bold magenta",
    "call": "magenta",
    "thinking": "dim italic",
    "note": "dim",
    "error": "bold red",
    "good": "bold green",
    "warning": "yellow",
}


def terminal_console(out: TextIO) -> Console:
    """Return a console that takes all text as it is; colours are off where NO_COLOR says so."""
    return Console(file=out, markup=False, emoji=False, highlight=False)


class TerminalView:
    """Draws into a terminal; close it to give the terminal back."""

    def __init__(self, out: TextIO) -> None:
        self._console = terminal_console(out)
        self._text = StepText()
        self._now = Now()
        self._live = Live(
            self._now,
            console=self._console,
            transient=True,
            refresh_per_second=10,
            redirect_stdout=False,
            redirect_stderr=sys.stderr.isatty(),
        )

    def step(self, step: RunStep) -> None:
        """Draw a step: what is open into the moving part, what is over above it."""
        if not self._live.is_started:
            self._live.start()
        match step:
            case RequestStep():
                self._over(step)
                self._now.wait(step.model)
            case ToolStep(state="open"):
                self._now.start(step)
            case ToolStep():
                self._now.finish(step)
                self._over(step)
            case ChatStep():
                self._now.rest()
                self._over(_told_below(step))
            case _:
                self._over(step)

    def delta(self, delta: TextDelta | ReasoningDelta) -> None:
        """Draw a piece of the answer into the moving part."""
        self._now.hear(delta.content, thinking=isinstance(delta, ReasoningDelta))

    def run(self, run: Run) -> None:
        """Draw the strip that says how the run came out."""
        self.close()
        self._console.print(Rule(style="dim"))
        self._console.print(strip(summary(run), self._console.width))

    def close(self) -> None:
        """Take the moving part away."""
        self._live.stop()

    def _over(self, step: RunStep) -> None:
        self.write([*self._text.lines(step), Line()])

    def write(self, lines: Sequence[Line]) -> None:
        """Draw lines above the moving part."""
        # In one call, or the moving part is drawn again after each line.
        drawn = Text("\n").join([draw(line, self._console) for line in lines])
        self._console.print(drawn, no_wrap=True, overflow="ignore", crop=False)


def draw(line: Line, console: Console) -> Text:
    """Return a line, wrapped below its own text."""
    note = f"  {line.note}" if line.note else ""
    text = Text.assemble((line.text, STYLES[line.style]), (note, "dim"))
    indent = len(line.head) or 2
    room = max(20, console.width - indent)
    if not line.folds:
        text.truncate(room, overflow="ellipsis")
    pieces = text.wrap(console, room, overflow="fold")
    return Text.assemble((line.head, "dim"), Text("\n" + " " * indent).join(pieces))


def strip(said: Summary, width: int) -> Text:
    """Return how a run came out, as many facts on a line as fit."""
    drawn = Text(said.outcome, STYLES[said.style])
    used = len(said.outcome)
    for label, value in said.facts:
        fact = Text.assemble((f"{label} ", "dim"), value)
        fits = used + 3 + len(fact) <= width
        drawn.append("   " if fits else "\n")
        drawn.append_text(fact)
        used = used + 3 + len(fact) if fits else len(fact)
    return drawn


def _told_below(step: ChatStep) -> ChatStep:
    """Leave the error's sentence to the end of the output, where it stands in the same terminal."""
    if step.error is None or not sys.stderr.isatty():
        return step
    return step.model_copy(update={"error": step.error.model_copy(update={"message": None})})

"""Who watches a run, and how it is shown to them."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from loopspan.cli.lines import JsonLines
from loopspan.cli.plain import PlainView
from loopspan.environment import variable
from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.loop import RunResult
from loopspan.runs import Run, RunEvent, RunStep
from loopspan.runs.text.lines import Line

if TYPE_CHECKING:
    from loopspan.cli.view import TerminalView

T = TypeVar("T")


class View(Protocol):
    """Where a run is shown."""

    def step(self, step: RunStep) -> None: ...
    def delta(self, delta: TextDelta | ReasoningDelta) -> None: ...
    def run(self, run: Run) -> None: ...
    def close(self) -> None: ...


class Writer(Protocol):
    """Where lines are written."""

    def write(self, lines: Sequence[Line]) -> None: ...


def open_view(*, json: bool) -> View:
    """Return the view of a run that suits the output."""
    if json:
        return JsonLines(sys.stdout.buffer)
    return _drawn() or PlainView(sys.stdout)


def open_writer() -> Writer:
    """Return what writes lines as it suits the output."""
    return _drawn() or PlainView(sys.stdout)


def _drawn() -> TerminalView | None:
    """Return the view that draws, where the output can be drawn into."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="replace")  # a narrow encoding must not end the run
    if not out.isatty() or variable("TERM") in (None, "dumb", "unknown"):
        return None
    from loopspan.cli.view import TerminalView  # drawing costs more to load than all the rest

    return TerminalView(out)


class Audience:
    """Hands on what happens to the view, in the run's own thread.

    A view that fails (its reader has left, the disk is full) ends the run: `RunTrace` would only
    log it.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._task: asyncio.Task[RunResult] | None = None
        self.failure: Exception | None = None

    def __call__(self, event: RunEvent) -> None:
        if event.step is not None:
            self._show(self._view.step, event.step)
        if event.run is not None:
            self._show(self._view.run, event.run)

    def delta(self, delta: TextDelta | ReasoningDelta) -> None:
        """Show a piece of a streamed answer."""
        self._show(self._view.delta, delta)

    def watch(self, task: asyncio.Task[RunResult] | None) -> None:
        """End this task when the view fails."""
        self._task = task

    def close(self) -> None:
        """Give the terminal back."""
        self._show(lambda _: self._view.close(), None)

    def _show(self, show: Callable[[T], None], value: T) -> None:
        if self.failure is not None:
            return
        try:
            show(value)
        except Exception as error:  # noqa: BLE001  # it is raised again where the run has ended
            self.failure = error
            if self._task is not None:
                self._task.cancel()

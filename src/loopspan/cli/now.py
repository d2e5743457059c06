"""What goes on at this moment in a run: the moving part of the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions
from rich.text import Text

from loopspan.runs import ToolStep
from loopspan.runs.text.figures import one_line
from loopspan.runs.text.parts import call_text
from loopspan.runs.text.visible import visible

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

_TAIL = 8000
"""The newest characters of an answer that are drawn while it arrives."""


class Now:
    """Drawn anew by a thread of its own; each change is one assignment."""

    def __init__(self) -> None:
        self._waiting: tuple[str, float] | None = None
        self._heard: tuple[str, bool] = ("", False)
        self._tools: dict[str | None, tuple[str, float]] = {}

    def wait(self, model: str | None) -> None:
        """A request was sent."""
        self._heard = ("", False)
        self._waiting = (f"waiting for {visible(model or 'the model')}", time.monotonic())

    def hear(self, text: str, *, thinking: bool) -> None:
        """A piece of the answer has arrived."""
        before, was_thinking = self._heard
        kept = before if thinking == was_thinking else ""
        self._heard = ((kept + text)[-_TAIL:], thinking)

    def rest(self) -> None:
        """The answer is there."""
        self._waiting = None
        self._heard = ("", False)

    def start(self, step: ToolStep) -> None:
        """A tool runs."""
        call = one_line(call_text(step.name, step.arguments))
        self._tools = {**self._tools, step.span_id: (call, time.monotonic())}

    def finish(self, step: ToolStep) -> None:
        """A tool is done."""
        self._tools = {key: tool for key, tool in self._tools.items() if key != step.span_id}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        heard, thinking = self._heard
        if heard:
            text = Text(visible(heard), "dim italic" if thinking else "")
            room = max(1, options.size.height - 4)
            yield from text.wrap(console, max(20, options.max_width - 2))[-room:]
        if self._waiting is not None:
            yield self._going_on(console, *self._waiting)
        for call, since in self._tools.values():
            yield self._going_on(console, call, since)

    def _going_on(self, console: Console, words: str, since: float) -> Text:
        now = time.monotonic()
        took = _clock(now - since)
        frame = _FRAMES[int(now * 10) % len(_FRAMES)]
        line = Text.assemble((frame, "cyan"), " ", words)
        line.truncate(max(10, console.width - len(took) - 3), overflow="ellipsis")
        return Text.assemble(line, "  ", (took, "dim"))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)} min {int(rest):02} s" if minutes else f"{rest:.1f} s"

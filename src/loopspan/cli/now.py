"""What goes on at this moment in a run: the moving part of the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions
from rich.spinner import Spinner
from rich.text import Text

from loopspan.cli.figures import cut, duration
from loopspan.cli.parts import call_text
from loopspan.cli.visible import visible
from loopspan.runs import ToolStep

_TAIL = 8000
"""The newest characters of an answer that are drawn while it arrives."""


class Now:
    """Drawn anew by a thread of its own; each change is one assignment."""

    def __init__(self) -> None:
        self._spinner = Spinner("dots", style="cyan")
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
        [call, *_], _ = cut(call_text(step.name, step.arguments), 1)
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
            yield self._clock(console, *self._waiting)
        for call, since in self._tools.values():
            yield self._clock(console, call, since)

    def _clock(self, console: Console, words: str, since: float) -> Text:
        frame = self._spinner.render(console.get_time())
        assert isinstance(frame, Text)
        took = duration((time.monotonic() - since) * 1000)
        line = Text.assemble(frame, " ", words)
        line.truncate(max(10, console.width - len(took) - 3), overflow="ellipsis")
        return Text.assemble(line, "  ", (took, "dim"))

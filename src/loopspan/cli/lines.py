"""A run as JSON, one object a line, each as it happens."""

from __future__ import annotations

from typing import Any, BinaryIO

from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.runs import Run, RunStep
from loopspan.runs.export import json_line


class JsonLines:
    """Writes to `out` in UTF-8, whatever the locale, and flushes each line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, value: dict[str, Any]) -> None:
        """Write one object."""
        self._out.write(json_line(value))
        self._out.flush()

    def step(self, step: RunStep) -> None:
        """Write a step that is new or has changed."""
        self.write({"event": "step", "step": step.model_dump(mode="json")})

    def delta(self, delta: TextDelta | ReasoningDelta) -> None:
        """Write a piece of the answer or of the thinking."""
        event = "text" if isinstance(delta, TextDelta) else "thinking"
        self.write({"event": event, "round": delta.round, "text": delta.content})

    def run(self, run: Run) -> None:
        """Write the run that is over."""
        self.write({"event": "run", "run": run.model_dump(mode="json")})

    def close(self) -> None:
        """Do nothing: each line is flushed already."""

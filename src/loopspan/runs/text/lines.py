"""Lines of text, safe to show, whatever shows them: a terminal, a file, a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopspan.runs import RunStep
from loopspan.runs.text.figures import cut
from loopspan.runs.text.visible import visible

Style: TypeAlias = Literal[
    "plain", "round", "reply", "tool", "call", "thinking", "note", "error", "good", "warning"
]

LABEL_WIDTH = 10
_UNDER_LABEL = 2 + LABEL_WIDTH + 1


@dataclass(frozen=True, slots=True)
class Line:
    """One line, safe to show: `label` says what the text is, `note` adds facts to a heading."""

    text: str = ""
    style: Style = "plain"
    label: str = ""
    note: str = ""
    indent: int = 2
    folds: bool = True
    """Whether it goes on below where there is too little room; else it ends there."""

    @property
    def head(self) -> str:
        """What stands before the text."""
        return " " * self.indent + (f"{self.label:<{LABEL_WIDTH}} " if self.label else "")

    def __str__(self) -> str:
        note = f"  {self.note}" if self.note else ""
        return f"{self.head}{self.text}{note}".rstrip()


def block(
    text: str, most: int | None, label: str = "", style: Style = "plain", indent: int = 2
) -> Iterator[Line]:
    """Give the first `most` lines of a text, made safe, and how many there are more."""
    kept, rest = cut(text, most)
    below = _UNDER_LABEL if label else indent
    for number, line in enumerate(kept):
        yield Line(
            line, style, "" if number else visible(label), indent=below if number else indent
        )
    if rest:
        yield Line(rest, "note", indent=below)


def unknown(step: RunStep, field: str) -> Line:
    """Return the line that stands for what is not known, with the reason."""
    why = next((each.why for each in step.missing if each.field == field), "not_recorded")
    return Line(why.replace("_", " "), "note", field)

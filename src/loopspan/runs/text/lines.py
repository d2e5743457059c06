"""Lines of text, safe to show, whatever shows them: a terminal, a file, a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopspan.runs import RunStep
from loopspan.runs.text.figures import Bytes, cut
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

    def __post_init__(self) -> None:
        # The name of a tool may hold a line of its own, and must not pass for one of ours.
        for name in ("text", "label", "note"):
            value = getattr(self, name)
            if "\n" in value:
                object.__setattr__(self, name, value.replace("\n", " "))

    @property
    def head(self) -> str:
        """What stands before the text."""
        return " " * self.indent + (f"{self.label:<{LABEL_WIDTH}} " if self.label else "")

    def __str__(self) -> str:
        note = f"  {self.note}" if self.note else ""
        return f"{self.head}{self.text}{note}".rstrip()


@dataclass(frozen=True, slots=True)
class Body:
    """A text by itself, not yet safe to show: a message, an answer, a result, at its cap."""

    text: str
    most: int | Bytes | None
    label: str = ""
    style: Style = "plain"
    indent: int = 2

    def cut(self) -> tuple[list[str], str | None]:
        """Return the lines that are shown, safe to show, and what to say of the rest."""
        return cut(self.text, self.most)

    def lines(self) -> Iterator[Line]:
        """Give it as lines, the label before the first."""
        kept, rest = self.cut()
        label = visible(self.label)
        below = _UNDER_LABEL if label else self.indent
        for number, line in enumerate(kept):
            indent = below if number else self.indent
            yield Line(line, self.style, "" if number else label, indent=indent)
        if rest:
            yield Line(rest, "note", indent=below)


Item: TypeAlias = Line | Body


def flat(items: Iterable[Item]) -> list[Line]:
    """Return all as lines."""
    return [line for item in items for line in (item.lines() if isinstance(item, Body) else [item])]


def unknown(step: RunStep, field: str) -> Line:
    """Return the line that stands for what is not known, with the reason."""
    told = next((each for each in step.missing if each.field == field), None)
    why = "not_recorded" if told is None else told.why
    detail = "" if told is None else told.detail or ""
    return Line(why.replace("_", " "), "note", field, visible(detail))

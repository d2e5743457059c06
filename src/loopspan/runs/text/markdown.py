"""A run as Markdown, in which nothing that a model or tool wrote is markup.

https://spec.commonmark.org/0.31.2/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopspan.runs.steps import Run
from loopspan.runs.text.lines import Body, Item, Line
from loopspan.runs.text.report import report
from loopspan.runs.text.visible import visible

_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&!$]")
_AT_START = re.compile(r"^([-+=]|\d+(?=[.)]))")


def as_markdown(run: Run, warnings: Iterable[str] = (), *, content: bool = True) -> str:
    """Return a run as Markdown: a heading for each step, each text in a fence of its own."""
    first, *rest = report(run, warnings, content=content)
    blocks = [f"# {_line(first.heading)}", *_blocks(first.items)]
    for section in rest:
        blocks += [f"## {_line(section.heading)}", *_blocks(section.items)]
    return "\n\n".join(blocks) + "\n"


def _blocks(items: Iterable[Item]) -> Iterator[str]:
    facts: list[str] = []
    for item in items:
        if isinstance(item, Line) and item.indent:
            facts.append(_fact(item))
            continue
        if facts:
            yield "\n".join(facts)
            facts = []
        if isinstance(item, Body):
            yield from _body(item)
        elif item != Line():
            yield f"### {_line(item)}"
    if facts:
        yield "\n".join(facts)


def _line(line: Line) -> str:
    parts = (f"**{_escaped(line.label)}**" if line.label else "", _escaped(line.text))
    said = " ".join(filter(None, parts))
    return f"{said} ({_escaped(line.note)})" if line.note else said


def _fact(line: Line) -> str:
    """Return a line as an item of a list, or as what goes on in the item above."""
    said = _line(line)
    if line.label:
        return f"- {said}"
    # Else it could begin a list, a heading or a rule of its own.
    said = _AT_START.sub(r"\\\1" if said[:1] in ("-", "+", "=") else r"\1\\", said)
    return f"  {said}" if line.indent > _INDENT else f"- {said}"


_INDENT = 2
"""How far the lines of a step stand in; what is further in belongs to the line above."""


def _escaped(text: str) -> str:
    """Return text on one line with a backslash before what Markdown would take for markup."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def _body(body: Body) -> Iterator[str]:
    kept, rest = body.cut()
    if body.label:
        yield f"**{_escaped(visible(body.label))}**"
    longest = max((len(run) for line in kept for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield "\n".join([fence, *kept, fence])
    if rest:
        yield _escaped(rest)

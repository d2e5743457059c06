"""A whole run to read: how it came out, what stands out, then step by step what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from loopspan.runs.findings import Finding, findings
from loopspan.runs.permitted import without_content
from loopspan.runs.steps import Run
from loopspan.runs.text.figures import Bytes, count, duration
from loopspan.runs.text.lines import Body, Item, Line, Style, flat
from loopspan.runs.text.parts import joined
from loopspan.runs.text.steps import Limits, StepText
from loopspan.runs.text.summary import summary
from loopspan.runs.text.visible import visible
from loopspan.runs.times import times

BODY_LIMIT = 50_000
"""The bytes that are shown of each text."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report: its heading, and what is below."""

    heading: Line
    items: tuple[Item, ...]


def report(
    run: Run,
    warnings: Iterable[str] = (),
    *,
    content: bool = True,
    body_limit: int | None = BODY_LIMIT,
) -> list[Section]:
    """Return a run in sections; `warnings` are what its source said of it.

    The number of a step, which findings refer to, is its position in `Run.steps`. Without
    `content` there is nothing that people, models and tools wrote. `body_limit` is in bytes.
    """
    found = findings(run)
    run = run if content else without_content(run)
    most = None if body_limit is None else Bytes(body_limit)
    text = StepText(Limits.each(most))
    sections = [Section(_title(run), tuple(_outcome(run, warnings, most)))]
    if found:
        heading = Line("Findings", "warning", note=count(len(found), "finding"), indent=0)
        sections.append(Section(heading, tuple(item for each in found for item in _finding(each))))
    for n, step in enumerate(run.steps):
        match text.items(step):
            case [Line() as first, *items]:
                heading = replace(first, text=f"[{n}] {first.text}")
                sections.append(Section(heading, tuple(items)))
    return sections


def report_lines(sections: Iterable[Section]) -> list[Line]:
    """Return a report as lines, an empty one after each section."""
    return [line for each in sections for line in (each.heading, *flat(each.items), Line())]


def as_text(run: Run, warnings: Iterable[str] = (), *, content: bool = True) -> str:
    """Return a run as plain text; nothing in it is obeyed by a terminal."""
    sections = report(run, warnings, content=content)
    return "".join(f"{line}\n" for line in report_lines(sections)[:-1])


def _title(run: Run) -> Line:
    named = joined((run.configuration or "", run.model or ""))
    return Line(f"Run {visible(run.run_id)}", "round", note=visible(named), indent=0)


def _outcome(run: Run, warnings: Iterable[str], most: Bytes | None) -> Iterator[Item]:
    said = summary(run)
    yield Line(said.outcome, said.style, "outcome")
    if run.error is not None and run.error.message:
        yield Body(run.error.message, most, "error", "error")
    for label, value in said.facts:
        yield Line(value, label=label)
        if label == "time":
            yield Line(_spent(run), label="of which")
    started = datetime.fromtimestamp(run.started_at / 1e9, UTC)
    yield Line(started.isoformat(" ", "milliseconds"), label="started")
    for warning in warnings:
        yield Line(visible(warning), "warning", "warning")


def _spent(run: Run) -> str:
    spent = times(run)
    where = {
        "in the model": spent.model_ms,
        "in tools": spent.tools_ms,
        "elsewhere": spent.other_ms,
    }
    return joined(f"{duration(took)} {name}" for name, took in where.items() if took is not None)


def _finding(finding: Finding) -> Iterator[Item]:
    style: Style = "error" if finding.severity == "error" else "warning"
    steps = ", ".join(map(str, finding.steps))
    where = f"in step {steps}" if len(finding.steps) == 1 else f"in steps {steps}"
    title = visible(" ".join(finding.title.split()))
    yield Line(title, style, finding.severity, where if steps else "")
    yield Line(finding.hint, "note", indent=_BELOW)


_BELOW = 13

"""`loopspan check`: what is set up, and whether it works."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from loopspan.cli.facts import Fact, ProviderFact, facts, providers
from loopspan.cli.lines import JsonLines
from loopspan.cli.probe import probe_all
from loopspan.cli.skills import catalogue_facts
from loopspan.cli.views import open_writer
from loopspan.runs.text.lines import Line, Style
from loopspan.runs.text.visible import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """The arguments of `loopspan check`."""

    catalogue: Path | None = None
    probe: bool = False
    models: tuple[str, ...] = ()
    json: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found."""

    providers: tuple[ProviderFact, ...]
    facts: tuple[Fact, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that is configured works."""
        return not self.wrong

    @property
    def wrong(self) -> list[str]:
        """The names of what is configured and does not work."""
        found: list[ProviderFact | Fact] = [*self.providers, *self.facts]
        return [each.name for each in found if each.problem is not None]


def check(settings: CheckSettings) -> int:
    """Find out, show it, and return the exit code: 0 if everything that is configured works."""
    found = providers()
    if settings.probe or settings.models:
        found = asyncio.run(probe_all(found, settings.models))
    report = Report(found, (*facts(), *catalogue_facts(settings.catalogue)))
    if settings.json:
        JsonLines(sys.stdout.buffer).write({"event": "check", "check": _as_json(report)})
    else:
        open_writer().write(list(report_lines(report)))
    return 0 if report.ok else 1


def report_lines(report: Report) -> Iterator[Line]:
    """Give what was found as lines in columns."""
    rows = [
        (each.name, _key(each), each.base_url or each.missing or "") for each in report.providers
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    yield Line("Providers", "round", indent=0)
    for each, row in zip(report.providers, rows, strict=True):
        columns = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        yield Line(visible(columns.rstrip()), _style(each), note=visible(each.probe or ""))
        yield from _problem(each.problem)
    yield Line()
    yield Line("Setup", "round", indent=0)
    for fact in report.facts:
        yield Line(visible(fact.value), label=fact.name)
        yield from _problem(fact.problem)
    yield Line()
    if report.ok:
        yield Line("Everything that is configured works", "good", indent=0)
    else:
        yield Line(visible(f"Does not work: {', '.join(report.wrong)}"), "error", indent=0)


def _problem(problem: str | None) -> Iterator[Line]:
    if problem is not None:
        yield Line(visible(problem), "error", indent=4)


def _key(fact: ProviderFact) -> str:
    if fact.key_variable is not None:
        return f"{fact.key_variable} {'is set' if fact.key_set else 'is not set'}"
    match fact.answers:
        case None:
            return "not installed" if fact.missing else ""
        case True:
            return "needs no key, answers"
        case False:
            return "needs no key, does not answer"


def _style(fact: ProviderFact) -> Style:
    if fact.problem is not None:
        return "error"
    return "good" if fact.key_set or fact.answers else "note"


def _as_json(report: Report) -> dict[str, object]:
    return {
        "ok": report.ok,
        "providers": [asdict(each) for each in report.providers],
        **{f.name: {"value": f.value, "problem": f.problem} for f in report.facts},
    }

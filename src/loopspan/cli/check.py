"""`loopspan check`: what is set up, and whether it works."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from loopspan.cli.facts import Fact, ProviderFact, content, exporter, prices, providers
from loopspan.cli.probe import probe_all
from loopspan.cli.text import Line, Style
from loopspan.cli.views import on_terminal, output
from loopspan.cli.visible import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """The arguments of `loopspan check`."""

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
        return all(each.problem is None for each in (*self.providers, *self.facts))


def check(settings: CheckSettings) -> int:
    """Find out, show it, and return the exit code: 0 if everything that is configured works."""
    found = providers()
    if settings.probe or settings.models:
        with _waiting(settings):
            found = asyncio.run(probe_all(found, settings.models))
    report = Report(found, (prices(), content(), exporter()))
    _show(report, json=settings.json)
    return 0 if report.ok else 1

"""`loopspan show`: a run that is over, by its trace id from a backend, or from a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loopspan.cli.backends import backends
from loopspan.cli.lines import JsonLines
from loopspan.cli.stderr import say
from loopspan.cli.views import open_writer
from loopspan.errors import ConfigurationError, RunNotFound
from loopspan.runs.sources import Fetched, FileSource, Source
from loopspan.runs.sources.drivers import MAX_BYTES
from loopspan.runs.sources.files import runs_of
from loopspan.runs.text.figures import count
from loopspan.runs.text.lines import Line
from loopspan.runs.text.report import report, report_lines

STDIN = "-"
_LOOKS_LIKE_AN_ID = re.compile("[0-9a-fA-F]{16,32}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSettings:
    """The arguments of `loopspan show`."""

    what: str
    jaeger: str | None = None
    tempo: str | None = None
    json: bool = False


def show(settings: ShowSettings) -> int:
    """Show the runs and return the exit code, 0; raises `LoopspanError` where there are none."""
    told = _fetched(settings)
    if not told.runs:
        spans = count(len(told.spans), "span")
        raise RunNotFound(
            f"{settings.what!r} has {spans}, none of them of a run",
            "runs are told by spans of the GenAI conventions; check the id or the file",
        )
    if settings.json:
        out = JsonLines(sys.stdout.buffer)
        for run in told.runs:
            out.run(run)
        for warning in told.warnings:
            say("warning", warning)
    else:
        writer = open_writer()
        for position, run in enumerate(told.runs):
            lines = report_lines(report(run, told.warnings))[:-1]
            writer.write([Line(), *lines] if position else lines)
    return 0


def _fetched(settings: ShowSettings) -> Fetched:
    what = settings.what
    if settings.jaeger is not None and settings.tempo is not None:
        raise ConfigurationError("both --jaeger and --tempo are given; give one of them")
    if settings.jaeger is None and settings.tempo is None:
        if what == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
            return runs_of(data, "standard input", MAX_BYTES)
        if Path(what).exists():
            return FileSource(Path(what)).read()
        if not _LOOKS_LIKE_AN_ID.fullmatch(what):
            raise ConfigurationError(
                f"there is no file {what!r}, and it is no trace id; give a path, or 32 hex digits"
            )
    sources = backends(settings.jaeger, settings.tempo)
    if not sources:
        raise ConfigurationError(
            f"{what!r} is no file, and no backend is named to ask for such a trace; pass --jaeger "
            "URL or --tempo URL, or set LOOPSPAN_JAEGER_URL or LOOPSPAN_TEMPO_URL"
        )
    return _first(sources, what)


def _first(sources: Sequence[Source], id: str) -> Fetched:
    """Return what the first that has the trace gives."""
    *others, last = sources
    for source in others:
        try:
            return source.fetch(id)
        except RunNotFound as error:
            say("note", error.message)
    return last.fetch(id)

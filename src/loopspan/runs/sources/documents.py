"""Runs out of bytes: OTLP JSON whole or line by line, gzipped or not, what Jaeger's page downloads,
and runs that were written as runs."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from loopspan.jsontext import load
from loopspan.runs import jaeger_json
from loopspan.runs.otlp import spans
from loopspan.runs.placed import with_content
from loopspan.runs.reader import read_runs
from loopspan.runs.sources.source import Fetched
from loopspan.runs.steps import Run
from loopspan.telemetry.record import SpanRecord
from loopspan.telemetry.store import store_of_environment

_GZIP = b"\x1f\x8b"


def unpacked(data: bytes, max_bytes: int) -> bytes:
    """Return the bytes, unzipped where they are gzipped.

    Raises `ValueError` for what is no gzip after all, or larger than `max_bytes`.
    """
    if not data.startswith(_GZIP):
        return data
    whole = b""
    while data.startswith(_GZIP):  # several, one after the other, are one file
        unzip = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            whole += unzip.decompress(data, max_bytes + 1 - len(whole))
        except zlib.error as error:
            raise ValueError(f"it is no gzip that can be read: {error}") from None
        if len(whole) > max_bytes:
            raise ValueError(f"unzipped it is larger than {max_bytes:,} bytes")
        if not unzip.eof:
            raise ValueError("its gzip breaks off")
        data = unzip.unused_data
    return whole


def fetched(data: bytes) -> Fetched:
    """Return the runs of a text: OTLP JSON, run JSON, or objects of either kind, one a line.

    A line that cannot be read is said and left out. Raises `ValueError` where nothing can be read.
    """
    found = _Found([], [], [])
    try:
        whole = load(data)
    except ValueError:
        # More than one value, or none: a document over several lines has no value on the first.
        lines = list(_lines(data))
        if len(lines) < 2 or not _is_json(lines[0][1]):
            raise
        _take_lines(found, lines)
    else:
        found.take(whole)
    return found.fetched()


def _take_lines(found: _Found, lines: Sequence[tuple[int, bytes]]) -> None:
    wrong: list[tuple[int, ValueError]] = []
    for number, line in lines:
        try:
            found.take(load(line))
        except ValueError as error:
            wrong.append((number, error))
    if len(wrong) == len(lines):
        first, why = wrong[0]
        raise ValueError(f"line {first}: {why}") from why
    found.warnings.extend(f"line {number} was left out: {why}" for number, why in wrong)


def _is_json(line: bytes) -> bool:
    try:
        load(line)
    except ValueError:
        return False
    return True


def of_spans(found: Iterable[SpanRecord], warnings: Iterable[str] = ()) -> Fetched:
    """Return the runs of spans; a span that came twice counts once."""
    store = store_of_environment()
    each = tuple(with_content(span, store) for span in unique(found))
    runs = read_runs(each)
    return Fetched(runs, each, warnings=tuple(warnings))


def unique(found: Iterable[SpanRecord]) -> tuple[SpanRecord, ...]:
    """Return each span once, one that has ended rather than one that was still open."""
    kept: dict[object, SpanRecord] = {}
    for span in found:
        key = (span.trace_id, span.span_id) if span.span_id else object()
        if key not in kept or kept[key].ended_at is None:
            kept[key] = span
    return tuple(kept.values())


@dataclass(slots=True)
class _Found:
    spans: list[SpanRecord]
    runs: list[Run]
    warnings: list[str]

    def take(self, value: Any) -> None:
        """Take what a JSON value tells; raises `ValueError` where it tells nothing."""
        match value:
            case {"event": "run", "run": {} as run}:
                self.runs.append(_run(run))
            case {"event": str()}:
                pass  # of `loopspan run --json`; what it tells is in the run at its end
            case {"run_id": _, "steps": _}:
                self.runs.append(_run(value))
            case {"data": [*_]}:
                self.spans.extend(jaeger_json.spans(value))
            case _:
                self.spans.extend(spans(value))

    def fetched(self) -> Fetched:
        told = of_spans(self.spans, self.warnings)
        runs = {run.run_id: run for run in (*self.runs, *told.runs)}
        return Fetched(tuple(runs.values()), told.spans, warnings=told.warnings)


def _run(value: dict[str, Any]) -> Run:
    try:
        return Run.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"this run cannot be read: {where}: {first['msg']}") from None


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line

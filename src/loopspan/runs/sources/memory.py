"""The runs of this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import chain

from loopspan.errors import RunNotFound
from loopspan.runs.reader import read_run
from loopspan.runs.run_trace import RunTrace
from loopspan.runs.sources.drivers import Flow
from loopspan.runs.sources.query import Query
from loopspan.runs.sources.source import Fetched, Listing, Source, newest
from loopspan.runs.sources.summary import summary_of
from loopspan.runs.steps import Run
from loopspan.telemetry.record import SpanRecord


class MemorySource(Source):
    """The runs that a `RunTrace` keeps, by the id of a run or of a trace."""

    type = "memory"

    def __init__(self, run_trace: RunTrace, name: str = "memory") -> None:
        super().__init__(name)
        self._run_trace = run_trace

    def _fetch(self, id: str) -> Flow[Fetched]:
        yield from ()
        groups = [spans for spans in self._groups(id) if spans]
        runs = tuple(read_run(spans) for spans in groups)
        if not runs:
            dropped = self._run_trace.dropped
            raise RunNotFound(
                f"this process has no run or trace {id!r}",
                f"it keeps the newest runs and has dropped {dropped}; ask the backend"
                if dropped
                else "only runs of this process are here; ask the backend",
            )
        return Fetched(runs, tuple(chain.from_iterable(groups)))

    def _groups(self, id: str) -> Iterator[tuple[SpanRecord, ...]]:
        """Yield the spans of each run that is meant; no other run is read for it."""
        yield self._run_trace.spans(id)
        for run_id in self._run_trace.run_ids():
            spans = self._run_trace.spans(run_id)
            if run_id != id and any(span.trace_id == id for span in spans):
                yield spans

    def _search(self, query: Query) -> Flow[Listing]:
        yield from ()
        runs = self._run_trace.runs()
        return listing(((run, self._run_trace.spans(run.run_id)) for run in runs), query)


def matching(runs: Iterable[Run], id: str) -> tuple[Run, ...]:
    """Return the runs that have this id, or whose trace has."""
    return tuple(run for run in runs if id in (run.run_id, run.trace_id))


def listing(found: Iterable[tuple[Run, Iterable[SpanRecord]]], query: Query) -> Listing:
    """Return what a query asks for of runs that are all at hand, with the spans of each."""
    since, until = query.nanoseconds()
    chosen = (
        summary_of(run)
        for run, spans in found
        if since <= run.started_at <= until
        and (not query.attributes or any(query.attributes.items() <= _texts(s) for s in spans))
    )
    said = ("which service a run belongs to is not known here, so all are listed",)
    return Listing(newest(chosen, query.limit), warnings=said if query.service else ())


def _texts(span: SpanRecord) -> Set[tuple[str, object]]:
    return {(k, v) for k, v in span.attributes.items() if isinstance(v, str)}

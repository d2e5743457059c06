"""The runs of a file."""

from __future__ import annotations

from pathlib import Path

from loopspan.errors import RunNotFound, SourceError
from loopspan.runs.sources.documents import fetched, unpacked
from loopspan.runs.sources.drivers import Drivers, Flow, Read
from loopspan.runs.sources.memory import listing, matching
from loopspan.runs.sources.query import Query
from loopspan.runs.sources.source import Fetched, Listing, Source


class FileSource(Source):
    """The runs of a file: OTLP JSON in each of its forms, run JSON, whole or line by line, gzipped
    or not."""

    type = "file"

    def __init__(self, path: Path, drivers: Drivers | None = None) -> None:
        super().__init__(path.name, drivers)
        self._path = path

    def read(self) -> Fetched:
        """Return all runs of the file."""
        return self._drivers.perform(self._read())

    async def aread(self) -> Fetched:
        """Return all runs of the file."""
        return await self._drivers.aperform(self._read())

    def _read(self) -> Flow[Fetched]:
        data: bytes = yield Read(self._path)
        return runs_of(data, repr(str(self._path)), self._drivers.max_bytes)

    def _fetch(self, id: str) -> Flow[Fetched]:
        found = yield from self._read()
        runs = matching(found.runs, id)
        if not runs:
            raise RunNotFound(
                f"{str(self._path)!r} has no run or trace {id!r}",
                f"it has {len(found.runs)} runs; leave out the id to see all of them",
            )
        traces = {run.trace_id for run in runs}
        spans = tuple(span for span in found.spans if span.trace_id in traces)
        return Fetched(runs, spans, warnings=found.warnings)

    def _search(self, query: Query) -> Flow[Listing]:
        found = yield from self._read()
        pairs = (
            (run, [s for s in found.spans if s.trace_id == run.trace_id]) for run in found.runs
        )
        listed = listing(pairs, query)
        return Listing(listed.runs, warnings=(*found.warnings, *listed.warnings))


def runs_of(data: bytes, what: str, max_bytes: int) -> Fetched:
    """Return the runs of the bytes of a file; raises `SourceError`, which names it as `what`."""
    try:
        return fetched(unpacked(data, max_bytes))
    except ValueError as error:
        raise SourceError(
            f"{what} cannot be read: {error}",
            "give OTLP JSON, or what `loopspan run --json` wrote",
        ) from error

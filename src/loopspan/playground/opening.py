"""Runs from elsewhere: files that somebody sends, traces of backends that the operator named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from loopspan.errors import ConfigurationError, RunNotFound, SourceError
from loopspan.playground.answers import Answer, Problem
from loopspan.playground.audit import audit
from loopspan.playground.bodies import Shape
from loopspan.playground.header import Source
from loopspan.playground.permitted import without_content
from loopspan.playground.requests import IMPORT_LIMIT, Fetch, checked, read_body, read_json
from loopspan.playground.runner import link
from loopspan.playground.store import Opened, Store
from loopspan.runs.sources import Fetched, JaegerSource, TempoSource
from loopspan.runs.sources.files import runs_of

Backend = JaegerSource | TempoSource
_NO_RUN = "no span in it is of a run"
_TRACE = re.compile("[0-9a-f]{32}")


class Opening:
    """Imports runs and fetches them; both are kept beside those in memory."""

    def __init__(self, store: Store, backends: Sequence[Backend] = ()) -> None:
        """Raises `ConfigurationError` where two backends have one name."""
        self._store = store
        self._backends = {each.name: each for each in backends}
        if len(self._backends) < len(backends):
            raise ConfigurationError("two backends have one name; name one differently with name=")

    def shapes(self) -> list[Shape]:
        """Return the backends as the page offers them."""
        return [
            {"name": each.name, "type": each.type, "link": each.url}
            for each in self._backends.values()
        ]

    async def imports(self, request: Request) -> Response:
        """Take the runs of a file, OTLP JSON or runs, whole or a line each."""
        body = await read_body(request, IMPORT_LIMIT)
        try:
            found = await run_in_threadpool(runs_of, body, "the file", IMPORT_LIMIT)
        except SourceError as error:
            raise _problem(422, "unreadable", error) from None
        self._take(found, Source("file", "import"), len(body))
        audit("import", request, bytes=len(body), runs=len(found.runs))
        return self._answer(request, found)

    async def fetch(self, request: Request) -> Response:
        """Take the runs of a trace of a backend, which is named and never given by address."""
        asked = checked(Fetch, await read_json(request))
        backend = self._backends.get(asked.backend)
        if backend is None:
            known = ", ".join(self._backends) or "none"
            raise Problem(
                422,
                "unknown_backend",
                f"there is no backend {asked.backend!r}; there are: {known}",
                hint="the operator names them with --jaeger and --tempo",
            )
        if _TRACE.fullmatch(asked.trace_id) is None:
            raise Problem(422, "invalid", "a trace id has 32 hexadecimal digits in lower case")
        audit("fetch", request, backend=backend.name, trace_id=asked.trace_id)
        try:
            found = await backend.afetch(asked.trace_id)
        except RunNotFound as error:
            raise _problem(404, "unknown_run", error) from None
        except SourceError as error:
            raise _problem(502, "backend_failed", error) from None
        size = sum(len(str(span.attributes)) for span in found.spans)
        self._take(found, Source(backend.type, backend.name), size)
        return self._answer(request, found)

    def _take(self, found: Fetched, source: Source, size: int) -> None:
        each = size // max(len(found.runs), 1)
        self._store.open(
            [Opened(source, _spans(found, run.trace_id), run, each) for run in found.runs]
        )

    def _answer(self, request: Request, found: Fetched) -> Response:
        may = request.state.principal.may("content")
        runs = [self._store.opened_header(run.run_id) for run in found.runs]
        return Answer(
            {
                "runs": [
                    {**link(run["run_id"]), **(run if may else without_content(run))}
                    for run in runs
                ],
                "partial": found.partial,
                "warnings": [*found.warnings, *([] if runs else [_NO_RUN])],
            }
        )


def _spans(found: Fetched, trace_id: str | None) -> tuple[Any, ...]:
    return tuple(span for span in found.spans if span.trace_id == trace_id)


def _problem(status: int, code: str, error: SourceError) -> Problem:
    return Problem(status, code, error.message, hint=error.hint)

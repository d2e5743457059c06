"""Endpoints that give a run away: as a file, and as text for readers without a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from loopspan.jsontext import dump_text
from loopspan.playground.answers import Problem
from loopspan.playground.audit import audit
from loopspan.playground.permitted import without_content
from loopspan.playground.store import Found, Store
from loopspan.playground.texts import as_html, as_text, list_lines, run_lines
from loopspan.playground.withheld import withheld
from loopspan.runs import Run
from loopspan.telemetry.redaction import DEFAULT_REDACTION


@dataclass(frozen=True, slots=True)
class Format:
    """How a run is written: the ending of its file, its media type, its text."""

    ending: str
    media_type: str
    write: Callable[[Run, Found], str]


def _run(run: Run, found: Found) -> str:
    return dump_text(run.model_dump(mode="json"))


def _ndjson(run: Run, found: Found) -> str:
    """Return what `loopspan run --json` prints."""
    steps = ({"event": "step", "run_id": run.run_id, "step": s} for s in run.steps)
    return "".join(f"{dump_text(each)}\n" for each in (*steps, {"event": "run", "run": run}))


def _html(run: Run, found: Found) -> str:
    return as_html(run, run_lines(run))


FORMATS: Mapping[str, Format] = {
    "run": Format("run.json", "application/json", _run),
    "ndjson": Format("ndjson", "application/x-ndjson", _ndjson),
    "html": Format("html", "text/html", _html),
}


class Exporting:
    """Gives runs away."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def export(self, request: Request) -> Response:
        """Answer with a file of a run; secrets are masked unless `redact=0` asks for all."""
        asked = request.query_params.get("format", "run")
        form = FORMATS.get(asked)
        if form is None:
            known = ", ".join(FORMATS)
            raise Problem(422, "invalid", f"there is no format {asked!r}; there are: {known}")
        run_id, found = self._found(request)
        text = form.write(found.read(), found)
        redact = request.query_params.get("redact", "1") != "0"
        if redact:
            text = DEFAULT_REDACTION.redact(text)
        audit("export", request, run_id=run_id, format=asked, redacted=redact)
        name = quote(f"run-{run_id}.{form.ending}")
        return Response(
            text,
            media_type=form.media_type,
            headers={
                "content-disposition": f"attachment; filename={name}",
                "content-security-policy": "default-src 'none'; sandbox",
            },
        )

    def text(self, request: Request) -> Response:
        """Answer with a run as plain text."""
        _, found = self._found(request)
        return _plain(as_text(run_lines(self._permitted(request, found.read()))))

    def list_text(self, request: Request) -> Response:
        """Answer with a line for each run, the newest first."""
        runs = sorted(self._store.headers(), key=lambda run: -int(run["started_at"]))
        if not request.state.principal.may("content"):
            runs = [without_content(run) for run in runs]
        return _plain(as_text(list_lines(runs)))

    def _found(self, request: Request) -> tuple[str, Found]:
        run_id = request.path_params["id"]
        return run_id, self._store.find(run_id, request.query_params.get("source"))

    def _permitted(self, request: Request, run: Run) -> Run:
        return run if request.state.principal.may("content") else withheld(run)


def _plain(text: str) -> Response:
    return Response(text, media_type="text/plain")

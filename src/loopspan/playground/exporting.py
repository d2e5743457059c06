"""Endpoints that give a run away: as a file, and as text for readers without a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from loopspan.playground.answers import Problem
from loopspan.playground.audit import audit
from loopspan.playground.permitted import without_content
from loopspan.playground.store import Found, Store
from loopspan.playground.texts import as_html, list_text
from loopspan.runs import Run
from loopspan.runs.export import as_ndjson, as_otlp_json, as_run_json
from loopspan.runs.text.markdown import as_markdown
from loopspan.runs.text.report import as_text
from loopspan.telemetry.redaction import DEFAULT_REDACTION


@dataclass(frozen=True, slots=True)
class Format:
    """How a run is written: the ending of its file, its media type, its text."""

    ending: str
    media_type: str
    write: Callable[[Run, Found], str]


def _spans(run: Run, found: Found) -> str:
    """Return the spans, for Jaeger's upload, a Collector or `loopspan show`."""
    if not found.spans:
        raise Problem(
            422,
            "no_spans",
            "this run was read from a file of runs, so its spans are not known",
            hint="take format=run",
        )
    return as_otlp_json(found.spans).decode()


def _ndjson(run: Run, found: Found) -> str:
    """Return what `loopspan run --json` prints."""
    return b"".join(as_ndjson(run)).decode()


FORMATS: Mapping[str, Format] = {
    "run": Format("run.json", "application/json", lambda run, _: as_run_json(run).decode()),
    "otlp-json": Format("otlp.json", "application/json", _spans),
    "ndjson": Format("ndjson", "application/x-ndjson", _ndjson),
    "md": Format("md", "text/markdown", lambda run, _: as_markdown(run)),
    "html": Format("html", "text/html", lambda run, _: as_html(run)),
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
        return _plain(as_text(found.read(), content=_may(request)))

    def markdown(self, request: Request) -> Response:
        """Answer with a run as Markdown."""
        _, found = self._found(request)
        text = as_markdown(found.read(), content=_may(request))
        return Response(text, media_type="text/markdown")

    def list_text(self, request: Request) -> Response:
        """Answer with a line for each run, the newest first."""
        runs = sorted(self._store.headers(), key=lambda run: -int(run["started_at"]))
        if not _may(request):
            runs = [without_content(run) for run in runs]
        return _plain(list_text(runs))

    def _found(self, request: Request) -> tuple[str, Found]:
        run_id = request.path_params["id"]
        return run_id, self._store.find(run_id, request.query_params.get("source"))


def _may(request: Request) -> bool:
    may: bool = request.state.principal.may("content")
    return may


def _plain(text: str) -> Response:
    return Response(text, media_type="text/plain")

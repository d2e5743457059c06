"""Endpoints that look into a run: a step in full, search, differences, snippets."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from loopspan.playground.answers import Answer, Problem
from loopspan.playground.detail import detail, span_of
from loopspan.playground.differences import difference
from loopspan.playground.numbers import numbers
from loopspan.playground.paging import path_number, whole
from loopspan.playground.permitted import without_content
from loopspan.playground.requests import Diff, checked, read_json
from loopspan.playground.search import search
from loopspan.playground.snippets import snippet
from loopspan.playground.store import Store
from loopspan.runs import RequestStep, Run

MOST_ASKED = 200
"""The characters of a text that is searched for."""


class Inspecting:
    """Looks into runs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, request: Request) -> Response:
        """Answer with a step, and everything that its span says."""
        run_id, source = _named(request)
        view = self._store.view(run_id, source)
        n = path_number(request, "n")
        if not 1 <= n <= len(view.steps):
            raise Problem(404, "unknown_step", f"the run has {len(view.steps)} steps")
        step = view.steps[n - 1]
        content = request.state.principal.may("content")
        span = span_of(self._store.find(run_id, source).spans, step["span_id"])
        told = detail(span, view.bodies, content=content)
        shown = dict(step if content else without_content(step))
        hidden = told.pop("hidden")
        return Answer(
            {**shown, "span": told.pop("name"), **told, "missing": shown["missing"] + hidden}
        )

    def search(self, request: Request) -> Response:
        """Answer with where a text stands in a run."""
        asked = request.query_params.get("q", "")
        if not 1 <= len(asked) <= MOST_ASKED:
            raise Problem(422, "invalid", f"q has {len(asked)} characters; give 1 to {MOST_ASKED}")
        hits, total, capped = search(self._store.run(*_named(request)), asked)
        start = whole(request, "cursor", 0)
        end = start + max(whole(request, "limit", 200, 200), 1)
        return Answer(
            {
                "hits": hits[start:end],
                "total": total,
                "capped": capped,
                "next": str(end) if end < len(hits) else None,
            }
        )

    async def diff(self, request: Request) -> Response:
        """Answer with the difference of two bodies."""
        asked = checked(Diff, await read_json(request))
        run_id = request.query_params.get("run")
        a = await run_in_threadpool(self._store.body, asked.a, run_id)
        b = await run_in_threadpool(self._store.body, asked.b, run_id)
        return Answer(await run_in_threadpool(difference, a, b, asked.mode))

    def snippet(self, request: Request) -> Response:
        """Answer with a program that sends the request of a step again."""
        run_id, source = _named(request)
        found = self._store.find(run_id, source)
        run = found.read()
        step = _request_at(run, path_number(request, "n"))
        span = span_of(found.spans, step.span_id)
        language = request.query_params.get("language", "curl")
        return Answer(snippet(run, step, span, language))


def _named(request: Request) -> tuple[str, str | None]:
    return request.path_params["id"], request.query_params.get("source")


def _request_at(run: Run, n: int) -> RequestStep:
    """Return the request that a number means: its own, or that of the answer after it."""
    for number, step in zip(numbers(run.steps), run.steps, strict=True):
        if isinstance(step, RequestStep) and n in (number, number + 1):
            return step
    raise Problem(404, "no_request", "this step is no request to a model")

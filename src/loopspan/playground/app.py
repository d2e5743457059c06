"""The ASGI application, to serve by itself or to mount in another one."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from opentelemetry.sdk.trace import SpanProcessor
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from loopspan.catalogue import Catalogue
from loopspan.configuration import Budget
from loopspan.errors import ConfigurationError
from loopspan.playground.acting import Acting, LoggingIn
from loopspan.playground.answers import Answer, Problem
from loopspan.playground.assets import Assets
from loopspan.playground.boot import boot
from loopspan.playground.exporting import Exporting
from loopspan.playground.guard import CHECKS, Check, Endpoint, Guard, is_bare
from loopspan.playground.hosts import AllowedHosts
from loopspan.playground.hub import Hub
from loopspan.playground.inspecting import Inspecting
from loopspan.playground.opening import Backend, Opening
from loopspan.playground.principals import Auth
from loopspan.playground.reading import Reading
from loopspan.playground.runner import CAP, Catalogues, Runner
from loopspan.playground.store import Store
from loopspan.playground.stream import Streams
from loopspan.playground.words import Words
from loopspan.runs import RunTrace
from loopspan.tools import ToolRegistry


def make_asgi_app(
    catalogue: Catalogue | Catalogues,
    run_trace: RunTrace,
    *,
    auth: Auth | None = None,
    allowed_hosts: Iterable[str] = (),
    tools: ToolRegistry | None = None,
    exporter: SpanProcessor | None = None,
    backends: Sequence[Backend] = (),
    cap: Budget = CAP,
    settings: Mapping[str, Any] | None = None,
) -> Playground:
    """Return the playground as an ASGI application.

    `auth` says who a request comes from; without it nothing is served. The app answers to loopback
    names with the server's own port and to `allowed_hosts`. `run_trace` has the runs; those that
    the page starts are traced into it by a provider of their own, and exported with `exporter`
    where the admin asks for it. `tools` stand in for those of the catalogue; `backends` are
    those whose traces may be opened; no run uses up more than `cap`; `settings`
    are further arguments of `ToolLoop`. Raises `ConfigurationError` for what cannot work.
    """
    if auth is None:
        raise ConfigurationError(
            "make_asgi_app needs auth=: a function from a request to a Principal or None, "
            "such as TokenAuth(token, principal)"
        )
    runner = Runner(
        catalogue, run_trace, tools=tools, exporter=exporter, settings=settings, cap=cap
    )
    return guarded(runner, run_trace, auth, AllowedHosts(allowed_hosts), backends=backends)


def guarded(
    runner: Runner,
    run_trace: RunTrace,
    auth: Auth,
    hosts: AllowedHosts,
    checks: Sequence[Check] = CHECKS,
    backends: Sequence[Backend] = (),
) -> Playground:
    """Return the application behind these checks."""
    return Playground(runner, run_trace, auth, hosts, checks, backends)


class Playground:
    """The guarded application; `routes` are those that it serves."""

    def __init__(
        self,
        runner: Runner,
        run_trace: RunTrace,
        auth: Auth,
        hosts: AllowedHosts,
        checks: Sequence[Check],
        backends: Sequence[Backend] = (),
    ) -> None:
        self.store = Store(run_trace)
        self.hub = Hub(self.store)
        self.words = Words(self.hub)
        self.runner = runner
        self.opening = Opening(self.store, backends)
        self.routes = self._routes(auth)
        self._app = Starlette(
            routes=self.routes,
            exception_handlers={
                Problem: _problem,
                HTTPException: _http_error,
                Exception: _failure,
            },
            lifespan=self._lifespan,
        )
        self._app.router.redirect_slashes = False
        self._guard = Guard(self._serve, self.routes, auth, hosts, checks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that has passed the guard."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.hub.start()
        served = _to_shell(scope) if is_bare(scope) else self._app
        await served(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await self.runner.stop()
        self.hub.stop()

    def _routes(self, auth: Auth) -> list[Endpoint]:
        assets, streams = Assets(), Streams(self.hub)
        reading = Reading(self.store, self.hub, self.words)
        acting = Acting(self.runner, self.store, self.hub, self.words)
        inspecting, exporting = Inspecting(self.store), Exporting(self.store)
        logging_in = LoggingIn(auth)
        started_at = str(time.time_ns())

        def boot_answer(request: Request) -> Response:
            principal = request.state.principal
            told = boot(principal, self.runner, self.store, self.hub, started_at)
            return Answer({**told, "backends": self.opening.shapes()})

        return [
            Endpoint("GET", "/", assets.shell, "nothing"),
            Endpoint("GET", "/static/{path:path}", assets.static, "nothing"),
            Endpoint("POST", "/login", logging_in.login, "nothing"),
            Endpoint("POST", "/logout", logging_in.logout, "nothing"),
            Endpoint("GET", "/api/boot", boot_answer, "view"),
            Endpoint("GET", "/api/stream", streams.answer, "view"),
            Endpoint("GET", "/api/runs", reading.runs, "view"),
            Endpoint("POST", "/api/runs", acting.start, "run"),
            Endpoint("GET", "/api/runs.txt", exporting.list_text, "view"),
            Endpoint("GET", "/api/runs/{id}.txt", exporting.text, "view"),
            Endpoint("GET", "/api/runs/{id}.md", exporting.markdown, "view"),
            Endpoint("GET", "/api/runs/{id}", reading.run, "view"),
            Endpoint("POST", "/api/runs/{id}/cancel", acting.cancel, "run"),
            Endpoint("GET", "/api/runs/{id}/rounds/{k}/messages", reading.messages, "view"),
            Endpoint("GET", "/api/runs/{id}/steps/{n}", inspecting.step, "view"),
            Endpoint("GET", "/api/runs/{id}/steps/{n}/snippet", inspecting.snippet, "content"),
            Endpoint("GET", "/api/runs/{id}/search", inspecting.search, "content"),
            Endpoint("GET", "/api/runs/{id}/export", exporting.export, "content"),
            Endpoint("PATCH", "/api/runs/{id}", acting.label, "run"),
            Endpoint("GET", "/api/blobs/{h}", reading.blob, "content"),
            Endpoint("POST", "/api/diff", inspecting.diff, "content"),
            Endpoint("POST", "/api/imports", self.opening.imports, "run"),
            Endpoint("POST", "/api/fetch", self.opening.fetch, "view"),
        ]


def _to_shell(scope: Scope) -> Response:
    """Send the bare mount path to the shell, which needs its trailing slash."""
    last = scope["path"].rpartition("/")[2]
    return Response(status_code=307, headers={"location": f"{last}/" if last else "./"})


async def _problem(request: Request, error: Any) -> Response:
    problem: Problem = error
    return problem.answer()


async def _http_error(request: Request, error: Any) -> Response:
    code = {404: "not_found", 405: "bad_method"}.get(error.status_code, "http")
    message = {404: "there is nothing here", 405: "this path does not take this method"}
    said = message.get(error.status_code, error.detail)
    problem = Problem(error.status_code, code, said, headers=error.headers)
    return problem.answer()


async def _failure(request: Request, error: Exception) -> Response:
    """Say that something failed; what it was is in the log, as it may hold content."""
    return Problem(
        500, "failed", "the playground itself failed", hint="the log of the server says more"
    ).answer()

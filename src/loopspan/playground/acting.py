"""Endpoints that change something: login, runs, labels."""

from __future__ import annotations

import time
from collections import deque

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from loopspan.playground.answers import Answer, Problem
from loopspan.playground.audit import audit
from loopspan.playground.auth import SESSION_SECONDS, TokenAuth, cookie_name
from loopspan.playground.hub import Hub
from loopspan.playground.permitted import without_content
from loopspan.playground.principals import Auth
from loopspan.playground.requests import Login, Relabel, checked, read_json
from loopspan.playground.runner import Runner, link
from loopspan.playground.store import Store
from loopspan.playground.words import Words

TRIES_A_MINUTE = 5


class LoggingIn:
    """Exchanges a code for a cookie; tries are counted over all clients."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth
        self._failed: deque[float] = deque()

    async def login(self, request: Request) -> Response:
        """Answer with a cookie for a code that is right."""
        auth = self._token_auth()
        self._check_tries()
        session = auth.exchange(checked(Login, await read_json(request)).code)
        if session is None:
            self._failed.append(time.monotonic())
            audit("login", request, refused=True)
            raise Problem(
                401,
                "wrong_code",
                "the code is wrong or was used before",
                hint="take the newest link that the command printed, or start it again",
            )
        audit("login", request)
        return _with_cookie(request, session, SESSION_SECONDS)

    async def logout(self, request: Request) -> Response:
        """Answer with a cookie that ends the session."""
        session = self._token_auth().session(request)
        if session is not None:
            self._token_auth().end(session)
        audit("logout", request)
        return _with_cookie(request, "", 0)

    def _token_auth(self) -> TokenAuth:
        if not isinstance(self._auth, TokenAuth):
            raise Problem(404, "no_login", "the application around the playground does the login")
        return self._auth

    def _check_tries(self) -> None:
        now = time.monotonic()
        while self._failed and self._failed[0] < now - 60:
            self._failed.popleft()
        if len(self._failed) >= TRIES_A_MINUTE:
            wait = 60 - int(now - self._failed[0])
            raise Problem(
                429,
                "too_many_tries",
                "too many codes were wrong",
                hint=f"try again in {wait} seconds",
                headers={"retry-after": str(wait)},
            )


class Acting:
    """Starts, cancels and labels runs."""

    def __init__(self, runner: Runner, store: Store, hub: Hub, words: Words) -> None:
        self._runner, self._store, self._hub, self._words = runner, store, hub, words

    async def start(self, request: Request) -> Response:
        """Start a run; it does not depend on the request or a stream."""
        value = await read_json(request)
        try:
            follow = self._words.follow
            run_id = await self._runner.start(value, request.state.principal, follow)
        except Problem as problem:
            for each in problem.content.get("runs", ()):
                audit("run", request, run_id=each["run_id"], refused=True)
            raise
        audit("run", request, run_id=run_id)
        return Answer({"runs": [link(run_id)]}, 202)

    async def cancel(self, request: Request) -> Response:
        """Cancel a run that goes on in this process."""
        run_id = request.path_params["id"]
        await read_json(request)
        if not self._runner.cancel(run_id):
            self._store.find(run_id)
            raise Problem(
                409,
                "not_running",
                "this run does not go on, or was not started here",
                hint="runs of the application are cancelled by the application",
            )
        audit("cancel", request, run_id=run_id)
        return Answer({}, 202)

    async def label(self, request: Request) -> Response:
        """Put a title, a note or a pin on a run."""
        value = await read_json(request)
        asked = checked(Relabel, value)
        run_id = request.path_params["id"]
        source = request.query_params.get("source")
        view = await run_in_threadpool(self._store.view, run_id, source)
        self._store.label(run_id, {name: getattr(asked, name) for name in value})
        if "pinned" in value:
            self._store.run_trace.pin(run_id, asked.pinned)
        audit("label", request, run_id=run_id, fields=sorted(value))
        shape = self._store.labelled(view.header)
        self._hub.tell("run", run_id, shape)
        may = request.state.principal.may("content")
        return Answer(shape if may else without_content(shape))


def _with_cookie(request: Request, value: str, seconds: int) -> Response:
    response = Response(status_code=204)
    response.set_cookie(
        cookie_name(request),
        value,
        max_age=seconds,
        path=f"{request.scope.get('root_path', '').rstrip('/')}/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response

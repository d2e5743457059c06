"""What a request must be before any handler sees it; everything not permitted is refused.

The checks run in this order: host, OPTIONS, origin and site, content type, own header, session,
permission. Each is one function, so that a test can take one out and see that it is missed.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopspan.playground.answers import SAFETY, Problem
from loopspan.playground.auth import bearer_of
from loopspan.playground.hosts import AllowedHosts, parsed_origin
from loopspan.playground.principals import Auth, Permission, Principal

Need: TypeAlias = Permission | Literal["nothing"]


class Endpoint(Route):
    """A route that says which permission it needs; `nothing` is open to everybody."""

    def __init__(self, method: str, path: str, handler: Callable[..., object], need: Need) -> None:
        super().__init__(path, handler, methods=[method])
        self.need: Need = need


@dataclass(slots=True)
class Asked:
    """A request on its way through the checks."""

    scope: Scope
    headers: Headers
    need: Need
    is_shell: bool
    hosts: AllowedHosts
    auth: Auth
    origin: tuple[str, str, int] | None = None
    principal: Principal | None = field(default=None)

    @property
    def method(self) -> str:
        return str(self.scope["method"])

    @property
    def reads(self) -> bool:
        """It is of a method that changes nothing; any other is held to be one that does."""
        return self.method in ("GET", "HEAD")


Check: TypeAlias = Callable[[Asked], Awaitable[None]]
"""Raises the `Problem` that a request has."""


async def check_host(asked: Asked) -> None:
    """One `Host`, and one that is allowed: another comes from DNS that points here."""
    given = asked.headers.getlist("host")
    if len(given) != 1:
        raise Problem(400, "bad_host", f"the request has {len(given)} Host headers, not one")
    asked.origin = asked.hosts.origin(given[0], asked.scope)
    if asked.origin is None:
        raise Problem(
            421,
            "unknown_host",
            "this server does not answer to the host that was asked for",
            hint="the operator names it with --allowed-host or allowed_hosts=",
        )


async def check_options(asked: Asked) -> None:
    """No other site ever gets leave to ask."""
    if asked.method == "OPTIONS":
        raise Problem(403, "no_cors", "requests from other sites are not taken")


async def check_site(asked: Asked) -> None:
    """What browsers say of where a request comes from."""
    site = asked.headers.get("sec-fetch-site")
    origins = asked.headers.getlist("origin")
    fine = site in (None, "same-origin") or (site == "none" and asked.reads)
    if not fine and not _is_navigation(asked):
        raise Problem(403, "foreign_site", "the request comes from another site")
    for origin in origins:
        if parsed_origin(origin) != asked.origin:
            raise Problem(403, "foreign_origin", "the request comes from another origin")
    if not asked.reads and site is None and not origins and not _has_bearer(asked):
        raise Problem(
            403,
            "no_origin",
            "a change needs Origin or Sec-Fetch-Site from a browser, a bearer token else",
        )


async def check_content_type(asked: Asked) -> None:
    """A form of another site can send three content types, and this is none of them."""
    kind = asked.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not asked.reads and kind != "application/json":
        raise Problem(415, "content_type", "a change is sent with Content-Type: application/json")


async def check_own_header(asked: Asked) -> None:
    """Another site cannot send this header without asking first."""
    if not asked.reads and asked.headers.get("x-playground") != "1":
        raise Problem(403, "own_header", "a change is sent with the header X-Playground: 1")


async def check_session(asked: Asked) -> None:
    """Somebody that the host application knows."""
    if asked.need == "nothing":
        return
    found = asked.auth(HTTPConnection(asked.scope))
    asked.principal = await found if inspect.isawaitable(found) else found
    if asked.principal is None:
        raise Problem(401, "no_session", "nobody is logged in", hint="log in and try again")


async def check_permission(asked: Asked) -> None:
    """What the route asks for."""
    need = asked.need
    if need != "nothing" and asked.principal is not None and not asked.principal.may(need):
        raise Problem(
            403,
            "not_permitted",
            f"this needs the permission {need!r}",
            detail={"permission": need},
        )


CHECKS: tuple[Check, ...] = (
    check_host,
    check_options,
    check_site,
    check_content_type,
    check_own_header,
    check_session,
    check_permission,
)


class Guard:
    """Lets a request through to the app only when every check has passed."""

    def __init__(
        self,
        app: ASGIApp,
        routes: Sequence[BaseRoute],
        auth: Auth,
        hosts: AllowedHosts,
        checks: Sequence[Check] = CHECKS,
    ) -> None:
        self._app, self._routes = app, routes
        self._auth, self._hosts, self._checks = auth, hosts, tuple(checks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "lifespan":
                await self._app(scope, receive, send)
            case "http":
                await self._http(scope, receive, _with_safety(send))
            case _:
                await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = self._asked(scope)
        try:
            for check in self._checks:
                await check(asked)
        except Problem as problem:
            await problem.answer()(scope, receive, send)
        else:
            state = {**scope.get("state", {}), "principal": asked.principal}
            await self._app({**scope, "state": state}, receive, send)

    def _asked(self, scope: Scope) -> Asked:
        found = _endpoint(self._routes, scope)
        shell = is_bare(scope) or (found is not None and found.path == "/")
        need: Need = "view" if found is None else found.need
        return Asked(
            scope,
            Headers(scope=scope),
            "nothing" if shell else need,
            shell,
            self._hosts,
            self._auth,
        )


def is_bare(scope: Scope) -> bool:
    """Whether the mount itself is asked for, without its trailing slash."""
    return scope["path"] in ("", scope.get("root_path") or "")


def _endpoint(routes: Sequence[BaseRoute], scope: Scope) -> Endpoint | None:
    partial: Endpoint | None = None
    for route in routes:
        match, _ = route.matches(scope)
        if isinstance(route, Endpoint) and match is Match.FULL:
            return route
        if isinstance(route, Endpoint) and match is Match.PARTIAL:
            partial = partial or route
    return partial


def _is_navigation(asked: Asked) -> bool:
    """The shell holds no data, so that a link from anywhere may open it."""
    return (
        asked.is_shell
        and asked.reads
        and asked.headers.get("sec-fetch-mode") == "navigate"
        and asked.headers.get("sec-fetch-dest") == "document"
    )


def _has_bearer(asked: Asked) -> bool:
    return bearer_of(HTTPConnection(asked.scope)) is not None


def _with_safety(send: Send) -> Send:
    async def safely(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SAFETY.items():
                headers.setdefault(name, value)
        await send(message)

    return safely

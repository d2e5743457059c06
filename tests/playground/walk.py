"""The router walk: every route of an app, with every method, under every attack.

It walks the app's own routes, so that a new route is covered on the day it is written. Each walk
returns what it found wrong, a sentence each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import httpx
from starlette.routing import BaseRoute, Mount, Route

from loopspan.playground.app import Playground
from loopspan.playground.guard import Endpoint
from tests.playground.served import BEARER, GOOD, client

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
READS = ("GET", "HEAD")
OPEN = ("/", "/static/path:path", "/static/nothing.js", "/login", "/logout")
STREAM = "/api/stream"
ENDING = "/api/stream?topics=none"
"""A stream does not end; one of a topic that there is none of is refused behind all guards."""

Expected = tuple[Mapping[str, str | None], int | None, int | None]
ATTACKS: dict[str, Expected] = {
    # what changes (None: left out), answer to a read, answer to anything else
    "foreign host": ({"host": "evil.example"}, 421, 421),
    "look-alike host": ({"host": "localhost.evil.example:8600"}, 421, 421),
    "wrong port": ({"host": "127.0.0.1:1"}, 421, 421),
    "cross-site": ({"sec-fetch-site": "cross-site"}, 403, 403),
    "same-site": ({"sec-fetch-site": "same-site"}, 403, 403),
    "foreign origin": ({"origin": "http://evil.example"}, 403, 403),
    "null origin": ({"origin": "null"}, 403, 403),
    "form": ({"content-type": "application/x-www-form-urlencoded"}, None, 415),
    "plain text": ({"content-type": "text/plain"}, None, 415),
    "no own header": ({"x-playground": None}, None, 403),
}


def paths(routes: Sequence[BaseRoute], prefix: str = "") -> Iterator[str]:
    """Yield the path of each route, and some where nothing is."""
    for route in routes:
        if isinstance(route, Mount):
            yield from paths(route.routes, prefix + route.path)
        elif isinstance(route, Route):
            yield asked(prefix + route.path)


def asked(path: str) -> str:
    """Return what to ask for to come to a route."""
    return ENDING if path == STREAM else path.replace("{", "").replace("}", "")


def all_paths(app: Playground) -> list[str]:
    return [*dict.fromkeys(paths(app.routes)), "/no/such/path", "/static/nothing.js"]


def headers_of(change: Mapping[str, str | None]) -> dict[str, str]:
    changed = {**GOOD, **BEARER, **change}
    return {name: value for name, value in changed.items() if value is not None}


async def attacked(app: Playground, names: Collection[str] = tuple(ATTACKS)) -> list[str]:
    """Send each of these attacks to each path with each method."""
    wrong = []
    async with client(app, {}) as http:
        for path in all_paths(app):
            for method in METHODS:
                for name in names:
                    change, read, other = ATTACKS[name]
                    expected = read if method in READS else other
                    if method == "OPTIONS":
                        expected = 421 if expected == 421 else 403
                    if expected is None:
                        continue
                    answer = await http.request(method, path, headers=headers_of(change))
                    wrong += complaints(f"{name}: {method} {path}", answer, expected)
    return wrong


async def without_session(app: Playground) -> list[str]:
    """Ask for each path without a session."""
    wrong = []
    async with client(app, GOOD) as http:
        for path in all_paths(app):
            for method in METHODS:
                if path not in OPEN:
                    answer = await http.request(method, path)
                    expected = 403 if method == "OPTIONS" else 401
                    wrong += complaints(f"no session: {method} {path}", answer, expected)
    return wrong


async def with_view_alone(app: Playground) -> list[str]:
    """Ask for each route as somebody who may only view."""
    wrong = []
    async with client(app) as http:
        for route in app.routes:
            if not isinstance(route, Endpoint) or route.need not in ("content", "run"):
                continue
            for method in route.methods or ():
                path = asked(route.path)
                answer = await http.request(method, path)
                where = f"view alone: {method} {path}"
                wrong += complaints(where, answer, 403)
                if method != "HEAD" and route.need not in answer.text:
                    wrong.append(f"{where}: asks for another permission than it declares")
    return wrong


async def good(app: Playground) -> list[str]:
    """Ask for each route with good headers: none of the guard's answers may come."""
    wrong = []
    async with client(app) as http:
        routes: Sequence[BaseRoute] = app.routes
        for route in routes:
            if not isinstance(route, Endpoint):
                wrong.append(f"{route} declares no permission")
                continue
            path = asked(route.path)
            for method in route.methods or ():
                code = _code(await http.request(method, path))
                if code in GUARD_CODES:
                    wrong.append(f"good headers: {method} {path} gives {code}")
    return wrong


GUARD_CODES = frozenset(
    {
        "bad_host",
        "unknown_host",
        "no_cors",
        "foreign_site",
        "foreign_origin",
        "no_origin",
        "content_type",
        "own_header",
        "no_session",
        "not_permitted",
    }
)


def complaints(where: str, answer: httpx.Response, expected: int) -> list[str]:
    found = []
    if answer.status_code != expected:
        found.append(f"{where}: {answer.status_code}, not {expected}")
    found += [f"{where}: {name}" for name in answer.headers if name.startswith("access-control-")]
    if "default-src 'none'" not in answer.headers.get("content-security-policy", ""):
        found.append(f"{where}: no policy of content")
    return found


def _code(answer: httpx.Response) -> str | None:
    if answer.status_code < 400 or not answer.content:
        return None
    code: str = answer.json()["error"]["code"]
    return code

"""Endpoints that read: runs, steps, messages, bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from loopspan.playground.answers import Answer, Problem
from loopspan.playground.bodies import Shape
from loopspan.playground.filters import matches
from loopspan.playground.hub import Hub
from loopspan.playground.paging import cursor, page, parts_of, path_number, whole
from loopspan.playground.permitted import without_content
from loopspan.playground.principals import Principal
from loopspan.playground.store import Store
from loopspan.playground.view import RunView
from loopspan.playground.words import Words

_HASH = re.compile(r"[0-9a-f]{32}")
BLOB_LIMIT = 262_144


class Reading:
    """What is read of runs; each answer is what the reader may see of it."""

    def __init__(self, store: Store, hub: Hub, words: Words) -> None:
        self._store, self._hub, self._words = store, hub, words

    def runs(self, request: Request) -> Response:
        """Answer with a page of runs, the newest first."""
        principal = _principal(request)
        query, limit = request.query_params, whole(request, "limit", 50, 200)
        found = [each for each in self._store.headers() if matches(each, query, principal)]
        found.sort(key=_newest)
        after = query.get("cursor")
        start = 0 if after is None else _position(found, *parts_of(after, 2))
        items, more = page(found, start, max(limit, 1))
        stats = self._store.run_trace.stats
        last = items[-1] if items else None
        return Answer(
            {
                "items": [self._permitted(each, principal) for each in items],
                "next": None if more is None or last is None else cursor(*_mark(last)),
                "total_known": len(found),
                "dropped": sum(stats.dropped.values()),
                "memory": asdict(stats),
                "seq": self._hub.seq,
            }
        )

    def run(self, request: Request) -> Response:
        """Answer with a run and a page of its steps."""
        seq, principal, view = self._hub.seq, _principal(request), self.view(request)
        first, may = max(whole(request, "from", 0), 1), principal.may("content")
        steps, more = page(view.steps, first - 1, max(whole(request, "limit", 1000, 1000), 1))
        header = self._store.labelled(view.header) | {"seq": f"{self._hub.epoch}.{seq}"}
        return Answer(
            {
                "run": self._permitted(header, principal),
                "steps": [self._permitted(step, principal) for step in steps],
                "next": None if more is None else more + 1,
                "children": self._store.children(view),
                "text": self._words.so_far(view.run.run_id) if may else None,
            }
        )

    def messages(self, request: Request) -> Response:
        """Answer with the messages that the request of a round carried, by reference."""
        exchange = self.view(request).request_of(path_number(request, "k"))
        if exchange is None:
            raise Problem(404, "unknown_round", "the run has no such round")
        offset, limit = whole(request, "offset", 0), whole(request, "limit", 200, 200)
        total = len(exchange.messages or ())
        positions, more = page(range(total), offset, max(limit, 1))
        shape = {
            "items": self._refs(exchange.refs(positions), _principal(request)),
            "next": more,
            "total": total,
            "captured": exchange.messages is not None,
        }
        return Answer(shape)

    def blob(self, request: Request) -> Response:
        """Answer with a part of a body; where the next one begins is in `X-Next`."""
        h = request.path_params["h"]
        if _HASH.fullmatch(h) is None:
            raise Problem(404, "not_found", "a body is named by 32 hexadecimal digits")
        body = self._store.body(h, *_run_of(request))
        download = request.query_params.get("download") == "1"
        headers = {
            "content-security-policy": "default-src 'none'; sandbox",
            "x-total": str(len(body)),
        }
        if download:
            headers["content-disposition"] = f"attachment; filename={quote(h[:12])}.txt"
            return _text(body, headers)
        start = _boundary(body, min(whole(request, "offset", 0), len(body)))
        limit = whole(request, "limit", 65_536, BLOB_LIMIT)
        end = _end(body, start, max(limit, 4))
        if end < len(body):
            headers["x-next"] = str(end)
        return _text(body[start:end], headers)

    def view(self, request: Request) -> RunView:
        """Return the run that a path names."""
        return self._store.view(request.path_params["id"], request.query_params.get("source"))

    def _permitted(self, shape: Shape, principal: Principal) -> Shape:
        return shape if principal.may("content") else without_content(shape)

    def _refs(self, refs: Iterable[Shape], principal: Principal) -> list[Shape]:
        return [self._permitted(ref, principal) for ref in refs]


def _run_of(request: Request) -> tuple[str | None, str | None]:
    return request.query_params.get("run"), request.query_params.get("source")


def _principal(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


def _mark(run: Shape) -> tuple[str, str]:
    return run["started_at"], f"{run['source']['type']}:{run['run_id']}"


def _newest(run: Shape) -> tuple[int, str]:
    started_at, name = _mark(run)
    return -int(started_at), name


def _position(runs: list[Shape], started_at: str, name: str) -> int:
    """Return where the page after this run begins, also when the run itself is gone."""
    if not started_at.isdecimal():
        raise Problem(422, "invalid", "this cursor is none that was given out")
    mark = (-int(started_at), name)
    return next((i for i, run in enumerate(runs) if _newest(run) > mark), len(runs))


def _text(content: bytes, headers: dict[str, str]) -> Response:
    return Response(content, media_type="text/plain", headers=headers)


def _boundary(body: bytes, at: int) -> int:
    """Return the beginning of the character that lies at this byte."""
    while 0 < at < len(body) and body[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _end(body: bytes, start: int, limit: int) -> int:
    end = min(start + limit, len(body))
    return end if end == len(body) else _boundary(body, end)

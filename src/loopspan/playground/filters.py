"""Which runs a list was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from loopspan.playground.answers import Problem
from loopspan.playground.bodies import Shape
from loopspan.playground.principals import Principal


def matches(run: Shape, query: Mapping[str, str], principal: Principal) -> bool:
    """Whether a run fits everything that the query asks for."""
    return all(
        check(run, query[name], principal) for name, check in _CHECKS.items() if name in query
    )


def _text(run: Shape, asked: str, principal: Principal) -> bool:
    """Whether a text stands in what names the run; a title is only searched by those who see it."""
    words = [run["run_id"], run["trace_id"], run["configuration"], run["model"]]
    if principal.may("content"):
        words += [run["title"], run["note"]]
    return any(asked.casefold() in word.casefold() for word in words if word)


def _since(run: Shape, asked: str, principal: Principal) -> bool:
    return int(run["started_at"]) >= _time(asked)


def _until(run: Shape, asked: str, principal: Principal) -> bool:
    return int(run["started_at"]) <= _time(asked)


def _time(asked: str) -> int:
    if not asked.isascii() or not asked.isdecimal() or len(asked) > 20:
        raise Problem(422, "invalid", "since and until are Unix nanoseconds")
    return int(asked)


_CHECKS = {
    "source": lambda run, asked, _: asked in (run["source"]["type"], run["source"]["name"]),
    "q": _text,
    "status": lambda run, asked, _: run["outcome"] in asked.split(","),
    "configuration": lambda run, asked, _: run["configuration"] == asked,
    "model": lambda run, asked, _: run["model"] == asked,
    "tool": lambda run, asked, _: asked in run["tools"],
    "finding": lambda run, asked, _: any(f["id"] == asked for f in run["findings"]),
    "since": _since,
    "until": _until,
}

"""The runs of a sweep: what the provider answers in each, and the tools that are called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import httpx

from loopspan.loop import ToolLoop
from loopspan.testing.leaks.exits import Exits
from loopspan.testing.leaks.markers import Markers
from loopspan.testing.leaks.wires import Said, Wire
from loopspan.tools import Tool, tool

Answer: TypeAlias = Callable[[], httpx.Response]


@dataclass(frozen=True, slots=True)
class Scene:
    """Prepared answers, made when they are asked for; the last one stands for all after it."""

    name: str
    answers: tuple[Answer, ...]


class _Breaking(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks off."""

    def __init__(self, begun: bytes, text: str) -> None:
        self._begun, self._text = begun, text

    def __iter__(self) -> Iterator[bytes]:
        yield self._begun
        raise httpx.ReadError(self._text)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


class Scenes:
    """The scenes of one provider, plain or streamed."""

    def __init__(self, wire: Wire, markers: Markers, streamed: bool) -> None:
        self._wire = wire
        self._markers = markers
        self._streamed = streamed

    def __iter__(self) -> Iterator[Scene]:
        markers, wire = self._markers, self._wire
        answer = Said(markers["answer"], markers["thinking"])
        working = (partial(self._said, self._asking()), partial(self._said, answer))
        yield Scene("tools that work and fail", working)
        # Some servers repeat the key.
        refused = wire.error(f"{markers['provider_error']}: wrong key {markers['key']}")
        yield Scene("a refusal", (partial(self._response, 400, refused),))
        yield Scene("a provider that is down", (partial(self._response, 503, refused),))
        yield Scene("an error inside the answer", (partial(self._failed, answer),))
        yield Scene("a broken body", (partial(self._broken, answer),))
        yield Scene("a broken connection", (partial(self._breaking, answer),))

    def _asking(self) -> Said:
        markers = self._markers
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("look", {"query": markers["tool_arguments"]}),
            ("fail", {}),
            ("fail_later", {}),
            ("refuse", {}),
            ("count", {"n": markers["wrong_arguments"], markers["wrong_argument_name"]: 1}),
            ("made_up", {"query": markers["unknown_tool_arguments"]}),
            ("delegate", {"task": markers["inner_prompt"]}),
        )
        return Said(markers["answer"], markers["thinking"], calls)

    @property
    def _head(self) -> dict[str, str]:
        kind = "application/json"
        if self._streamed:
            kind = "application/x-ndjson" if self._wire.lines else "text/event-stream"
        return {"content-type": kind, "x-session": self._markers["response_header"]}

    def _said(self, said: Said) -> httpx.Response:
        plain = self._wire.plain(said)
        if not self._streamed:
            return self._response(200, plain)
        content = self._wire.stream(self._wire.events(plain))
        return httpx.Response(200, headers=self._head, content=content)

    def _response(self, status: int, body: dict[str, Any]) -> httpx.Response:
        return httpx.Response(
            status, headers={"x-session": self._markers["response_header"]}, json=body
        )

    def _begun(self, said: Said) -> bytes:
        first, *_ = self._wire.events(self._wire.plain(said))
        return self._wire.stream([first]) if self._streamed else b"{"

    def _failed(self, said: Said) -> httpx.Response:
        error = self._wire.error(self._markers["stream_error"])
        if not self._streamed:
            return self._response(200, error)
        content = self._begun(said) + self._wire.stream([error])
        return httpx.Response(200, headers=self._head, content=content)

    def _breaking(self, said: Said) -> httpx.Response:
        stream = _Breaking(self._begun(said), self._markers["broken_connection"])
        return httpx.Response(200, headers=self._head, stream=stream)

    def _broken(self, said: Said) -> httpx.Response:
        text = f'{{"broken": {self._markers["broken_body"]}'
        content = text.encode()
        if self._streamed:
            content = self._begun(said) + self._wire.event(text)
        return httpx.Response(200, headers=self._head, content=content)


def tools(markers: Markers, exits: Exits, inner: Callable[[], ToolLoop]) -> Iterable[Tool]:
    """Return the tools that the scenes call; `inner` gives the loop that one of them runs."""

    def look(query: str) -> str:
        exits.propagated()
        return markers["tool_result"]

    def fail() -> None:
        try:
            raise KeyError(markers["tool_exception_cause"])
        except KeyError as cause:
            raise ValueError(markers["tool_exception"]) from cause

    async def fail_later() -> None:
        fail()

    def refuse() -> dict[str, str]:
        return {"error": markers["returned_error"]}

    def count(n: int) -> int:
        return n

    def delegate(task: str) -> str | None:
        return inner().run(task).content

    look.__doc__ = (
        f"{markers['tool_description']}\n\nArgs:\n    query: {markers['parameter_description']}"
    )
    return [tool(look), *(tool(each) for each in (fail, fail_later, refuse, count, delegate))]

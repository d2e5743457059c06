"""Streams of the playground, driven directly: a client of our own at the other end of ASGI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.types import ASGIApp, Message

from tests.playground.served import BEARER, HERE


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a stream."""

    id: str
    name: str
    data: Any


class Gone(OSError):
    """The client has gone away."""


@dataclass
class Stream:
    """The reader's end: the head, the events so far, and whether it reads at all."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes = b""
    last_id: str = ""
    gone: bool = False
    reading: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    disconnect: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    events: list[Told] = field(default_factory=list)
    _taken: int = 0

    async def receive(self) -> Message:
        await self.disconnect.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self.gone:
            raise Gone("the reader has gone away")
        await self.reading.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {k.decode(): v.decode() for k, v in message["headers"]}
        else:
            self.raw += message.get("body", b"")
            self._parse()
        self.changed.set()

    def _parse(self) -> None:
        while b"\n\n" in self.raw:
            block, _, self.raw = self.raw.partition(b"\n\n")
            fields = dict(
                line.split(": ", 1) for line in block.decode().split("\n") if ": " in line[1:]
            )
            self.last_id = fields.get("id", self.last_id)
            if "event" in fields:
                self.events.append(Told(self.last_id, fields["event"], json.loads(fields["data"])))

    async def until(self, wanted: Callable[[Told], bool], count: int = 1) -> list[Told]:
        """Return the events up to the `count`th that is wanted."""
        while sum(map(wanted, self.events)) < count:
            self.changed.clear()
            await self.changed.wait()
        return list(self.events)

    async def headed(self) -> None:
        """Wait for the head of the answer and where the stream begins."""
        while not self.last_id and self.status in (0, 200):
            self.changed.clear()
            await self.changed.wait()


def scope_of(
    path: str, query: str = "", headers: Mapping[str, str] | None = None, version: str = "2.3"
) -> dict[str, Any]:
    """Return the scope of a GET as uvicorn makes it."""
    given = {"host": HERE.partition("//")[2], **BEARER, **(headers or {})}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": version},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8600),
    }


@asynccontextmanager
async def listening(
    app: ASGIApp,
    query: str,
    *,
    headers: Mapping[str, str] | None = None,
    version: str = "2.3",
    reading: bool = True,
) -> AsyncIterator[Stream]:
    """Open a stream, wait for its head, and go away at the end."""
    stream = Stream()
    if reading:
        stream.reading.set()
    scope = scope_of("/api/stream", query, headers, version)
    task = asyncio.create_task(_served(app, scope, stream))
    try:
        if reading:
            await stream.headed()
        yield stream
    finally:
        stream.disconnect.set()
        if version != "2.3":
            task.cancel()
        await asyncio.wait([task])


async def position(http: httpx.AsyncClient) -> str:
    """Return where the streams of a playground are now, for `after`."""
    told = (await http.get("/api/boot")).json()
    return f"{told['process']['epoch']}.{told['seq']}"


async def _served(app: ASGIApp, scope: dict[str, Any], stream: Stream) -> None:
    try:
        await app(scope, stream.receive, stream.send)
    finally:
        stream.over.set()

"""What happens, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Collection

from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from loopspan.jsontext import dump
from loopspan.playground.answers import Problem
from loopspan.playground.bodies import Shape
from loopspan.playground.hub import Event, Hub
from loopspan.playground.permitted import without_content
from loopspan.playground.principals import Principal

PING_SECONDS = 15.0
"""How often a stream without news says that it is there; also how a dead reader is noticed."""
MOST_STREAMS = 8
"""How many streams a principal may have open."""
_BATCH = 200


class EventStream(StreamingResponse):
    """An endless answer that ends, whole, when its reader goes away."""

    def __init__(self, blocks: AsyncGenerator[bytes]) -> None:
        super().__init__(
            blocks, media_type="text/event-stream", headers={"x-accel-buffering": "no"}
        )
        self._blocks = blocks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except ClientDisconnect:
            pass
        finally:
            await self._blocks.aclose()


class Streams:
    """The streams that are open."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._open: Counter[str] = Counter()

    async def answer(self, request: Request) -> EventStream:
        """Answer with events until the reader goes away."""
        principal: Principal = request.state.principal
        topics = frozenset(filter(None, request.query_params.get("topics", "runs").split(",")))
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        for topic in topics:
            if topic != "runs" and not topic.startswith("run:"):
                raise Problem(422, "unknown_topic", f"there is no topic {topic!r}")
        if self._open[principal.name] >= MOST_STREAMS:
            raise Problem(
                429,
                "too_many_streams",
                f"{MOST_STREAMS} streams are open",
                hint="close a tab",
                headers={"retry-after": "5"},
            )
        reader = _Reader(self.hub, topics, after, content=principal.may("content"))
        return EventStream(self._counted(reader, principal.name))

    async def _counted(self, reader: _Reader, name: str) -> AsyncGenerator[bytes]:
        self._open[name] += 1
        try:
            async with contextlib.aclosing(reader.blocks()) as blocks:
                async for block in blocks:
                    yield block
        finally:
            self._open[name] -= 1
            self._open += Counter()  # forgets names without streams


class _Reader:
    """One stream: where it stands, what it may see."""

    def __init__(
        self, hub: Hub, topics: Collection[str], after: str | None, *, content: bool
    ) -> None:
        self._hub, self._topics, self._content = hub, topics, content
        self._gap: Shape | None = None
        self._seq = hub.seq
        if after:
            epoch, _, seq = after.rpartition(".")
            known = epoch == hub.epoch and seq.isdecimal() and int(seq) <= hub.seq
            if known:
                self._seq = int(seq)
            else:
                self._gap = {"from": 0, "to": hub.seq, "why": "another process, or a restart"}

    async def blocks(self) -> AsyncGenerator[bytes]:
        waker = asyncio.Event()
        stop = self._hub.watch(waker)
        try:
            yield f"retry: 2000\nid: {self._hub.epoch}.{self._seq}\n\n".encode()
            if self._gap is not None:
                yield self._block("gap", self._gap)
            while True:
                waker.clear()
                news = self._news()
                if news:
                    yield news
                    continue
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(waker.wait(), PING_SECONDS)
                    continue
                yield b": ping\n\n"
        finally:
            stop()

    def _news(self) -> bytes:
        """Return what is new for this reader, a batch at a time."""
        found = b""
        if self._seq + 1 < self._hub.first:
            gap = {"from": self._seq + 1, "to": self._hub.first - 1, "why": "too far behind"}
            self._seq = self._hub.first - 1
            found = self._block("gap", gap)
        for event in self._hub.since(self._seq)[:_BATCH]:
            self._seq = event.seq
            if self._wants(event):
                found += self._block(event.name, self._permitted(event))
        return found

    def _wants(self, event: Event) -> bool:
        if event.name == "text" and not self._content:
            return False
        if event.run_id is None or f"run:{event.run_id}" in self._topics:
            return True
        return "runs" in self._topics and event.name in ("run", "end", "gap")

    def _permitted(self, event: Event) -> Shape:
        data = event.data
        if self._content:
            return data
        match event.name:
            case "run":
                return without_content(data)
            case "step":
                return {**data, "step": without_content(data["step"])}
            case "patch":
                # With a kind they are taken for those of a step.
                fields = without_content({**data["fields"], "kind": ""})
                del fields["kind"]
                return {**data, "fields": fields}
            case _:
                return data

    def _block(self, name: str, data: Shape) -> bytes:
        head = f"id: {self._hub.epoch}.{self._seq}\nevent: {name}\ndata: ".encode()
        return head + dump(data) + b"\n\n"

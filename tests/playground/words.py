"""A provider that streams its answer a piece at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx


class Slow:
    """An answer of a provider that is streamed a piece at a time, when the test says so."""

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[str | None] = asyncio.Queue()

    def __call__(self, body: Any) -> httpx.Response:
        assert body["stream"] is True
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, content=self._content())

    def say(self, *pieces: str | None) -> None:
        """Send these pieces; `None` ends the answer."""
        for piece in pieces:
            self.pieces.put_nowait(piece)

    async def _content(self) -> AsyncIterator[bytes]:
        while (piece := await self.pieces.get()) is not None:
            yield _chunk({"content": piece}, None)
        yield _chunk({}, "stop") + b"data: [DONE]\n\n"


def _chunk(delta: dict[str, Any], reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    told = {"id": "1", "object": "chat.completion.chunk", "model": "scripted-1"}
    return b"data: " + json.dumps({**told, "choices": [choice]}).encode() + b"\n\n"

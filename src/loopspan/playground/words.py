"""The words of answers while they are streamed: what has come so far, told a few times a second."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from loopspan.flow.events import ReplyReceived, TextDelta
from loopspan.loop import AsyncRunStream
from loopspan.playground.bodies import Shape
from loopspan.playground.hub import Hub

PAUSE = 0.05
"""The least seconds between two events of the same answer."""


@dataclass
class _Answer:
    """An answer that is on its way: its pieces, and how many of them were told."""

    round: int
    pieces: list[str] = field(default_factory=list)
    told: int = 0
    length: int = 0
    """The length of what was told, as a browser counts it."""


class Words:
    """Tells the pages what comes; for callers in the server's loop."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._answers: dict[str, _Answer] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def follow(self, run_id: str, stream: AsyncRunStream) -> None:
        """Take a run to its end; what it raises is raised."""
        try:
            async with stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        self._take(run_id, event)
                    elif isinstance(event, ReplyReceived):
                        self._forget(run_id)
        finally:
            self._forget(run_id)

    def so_far(self, run_id: str) -> Shape | None:
        """Return `{n, text}` of the answer that is on its way, for a page that has just come."""
        answer = self._answers.get(run_id)
        n = None if answer is None else self._hub.waiting(run_id, answer.round)
        if answer is None or n is None:
            return None
        return {"n": n, "text": "".join(answer.pieces)}

    def _take(self, run_id: str, event: TextDelta) -> None:
        answer = self._answers.get(run_id)
        if answer is None or answer.round != event.round:
            answer = self._answers[run_id] = _Answer(event.round)
        answer.pieces.append(event.content)
        self._soon(run_id)

    def _soon(self, run_id: str) -> None:
        if run_id not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[run_id] = loop.call_later(PAUSE, self._tell, run_id)

    def _tell(self, run_id: str) -> None:
        del self._timers[run_id]
        answer = self._answers[run_id]
        n = self._hub.waiting(run_id, answer.round)
        if n is None:  # its step comes from another thread, and is on its way too
            self._soon(run_id)
            return
        text = "".join(answer.pieces[answer.told :])
        data = {"run_id": run_id, "n": n, "at": answer.length, "text": text}
        answer.told = len(answer.pieces)
        answer.length += len(text.encode("utf-16-le", "surrogatepass")) // 2
        self._hub.tell("text", run_id, data)

    def _forget(self, run_id: str) -> None:
        """The whole answer is there, or there will be none."""
        self._answers.pop(run_id, None)
        timer = self._timers.pop(run_id, None)
        if timer is not None:
            timer.cancel()

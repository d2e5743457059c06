"""A run as a stream of events: a context manager, plain and async."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx

from loopspan.errors import LoopspanError
from loopspan.flow.drivers import AsyncRun, Over, SyncRun
from loopspan.flow.events import StreamEvent
from loopspan.loop.result import RunResult
from loopspan.loop.rounds import Rounds


class RunStream:
    """Iterate over the events of a run; leaving it before its end ends the run as `abandoned`."""

    def __init__(self, rounds: Rounds, client: httpx.Client | None) -> None:
        self._rounds = rounds
        self._run = SyncRun(rounds.perform(), client)

    @property
    def result(self) -> RunResult:
        """What the run has reached; whole when the events are over."""
        return self._rounds.result()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        try:
            event = self._run.advance()
        except LoopspanError:
            self._rounds.result()
            raise
        if isinstance(event, Over):
            raise StopIteration
        return event

    def drain(self) -> RunResult:
        """Take the run to its end and return its result."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """End the run where it stands."""
        self._run.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class AsyncRunStream:
    """Iterate over the events of a run; leaving it before its end ends the run as `abandoned`."""

    def __init__(self, rounds: Rounds, client: httpx.AsyncClient | None) -> None:
        self._rounds = rounds
        self._client = client
        self._run: AsyncRun[None] | None = None

    @property
    def result(self) -> RunResult:
        """What the run has reached; whole when the events are over."""
        return self._rounds.result()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        if self._run is None:
            self._run = AsyncRun(self._rounds.perform(), self._client)
        try:
            event = await self._run.advance()
        except LoopspanError:
            self._rounds.result()
            raise
        if isinstance(event, Over):
            raise StopAsyncIteration
        return event

    async def drain(self) -> RunResult:
        """Take the run to its end and return its result."""
        async for _ in self:
            pass
        return self.result

    async def aclose(self) -> None:
        """End the run where it stands."""
        if self._run is not None:
            await self._run.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if self._run is not None:
            self._run.abandon()

"""What happens in runs, told live: to a callback, or to a reader that may be slow."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias

from loopspan.runs.steps import Run, RunStep

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What happened in a run: a step that is new or has changed, or the end of the run.

    `lost` is how many events a slow reader of `RunTrace.events()` has missed before the next one;
    such an event is of no run, its `run_id` is empty.
    """

    run_id: str
    step: RunStep | None = None
    run: Run | None = None
    lost: int = 0


Listener: TypeAlias = Callable[[RunEvent], object]
Stop: TypeAlias = Callable[[], None]


class RunEvents:
    """A reader's own queue of events; made by `RunTrace.events()`.

    Read it with `for` in a thread or with `async for` in a task. Where it is full the oldest event
    is lost, and the reader is told how many were. `close()`, from anywhere, ends the reading.
    """

    def __init__(
        self, subscribe: Callable[[Listener], Stop], lose: Callable[[], None], maxsize: int
    ) -> None:
        if maxsize < 1:
            raise ValueError(f"maxsize is {maxsize}; it is a number of events, at least 1")
        self._queue: deque[RunEvent] = deque()
        self._maxsize = maxsize
        self._lost = 0
        self._closed = False
        self._changed = threading.Condition()
        self._wakers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._lose = lose
        self._stop = subscribe(self._heard)

    def close(self) -> None:
        """Listen no more; who waits for an event stops waiting."""
        self._stop()
        with self._changed:
            self._closed = True
            self._queue.clear()
            self._wake()

    def _heard(self, event: RunEvent) -> None:
        with self._changed:
            if self._closed:
                return
            full = len(self._queue) >= self._maxsize
            if full:
                self._queue.popleft()
                self._lost += 1
            self._queue.append(event)
            self._wake()
        if full:
            self._lose()

    def _wake(self) -> None:
        self._changed.notify_all()
        for waker, loop in self._wakers.items():
            with suppress(RuntimeError):  # that loop is closed
                loop.call_soon_threadsafe(waker.set)
        self._wakers.clear()

    def _next(self) -> RunEvent | None:
        if self._lost:
            lost, self._lost = self._lost, 0
            return RunEvent("", lost=lost)
        return self._queue.popleft() if self._queue else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[RunEvent]:
        return self

    def __next__(self) -> RunEvent:
        with self._changed:
            while not self._closed:
                event = self._next()
                if event is not None:
                    return event
                self._changed.wait()
        raise StopIteration

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncIterator[RunEvent]:
        return self

    async def __anext__(self) -> RunEvent:
        import asyncio  # only programs that run loops of it pay for it

        while True:
            waker = asyncio.Event()
            with self._changed:
                if self._closed:
                    raise StopAsyncIteration
                event = self._next()
                if event is not None:
                    return event
                self._wakers[waker] = asyncio.get_running_loop()
            try:
                await waker.wait()
            finally:
                with self._changed:
                    self._wakers.pop(waker, None)

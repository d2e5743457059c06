"""Functions that run beside a flow: their threads, their deadlines, their context."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from opentelemetry import trace

from loopspan.errors import ToolTimeout
from loopspan.flow.effects import Done, Spawn

NOBODY = Done(-1, 0)
"""The end of no function: it wakes up a driver that waits while its run is closed."""


class Deadlines:
    """Which spawned functions are still awaited, and until when."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}

    def add(self, effect: Spawn) -> None:
        """Await this function from now on."""
        patience = float("inf") if effect.timeout is None else effect.timeout
        self._until[effect.key] = time.monotonic() + patience

    def patience(self) -> float | None:
        """Return the seconds until the next deadline, `None` where there is none."""
        until = min(self._until.values(), default=float("inf"))
        return None if until == float("inf") else max(0.0, until - time.monotonic())

    def take(self, done: Done) -> bool:
        """Return whether this end was still awaited; it no longer is."""
        return self._until.pop(done.key, None) is not None

    def expire(self) -> Done:
        """Give up the function whose deadline is the next, and return its end."""
        key = min(self._until, key=self._until.__getitem__)
        del self._until[key]
        return Done(key, time.time_ns(), error=ToolTimeout(ToolTimeout.told))


class Workers:
    """Threads that run plain functions, each in a copy of the context that it was started in.

    They are kept for the next call of the run: a new thread costs more than the rest of a call.
    All are daemons, since a tool that hangs must not hold up the end of the program.
    """

    def __init__(self, tell: Callable[[Done], object]) -> None:
        self._tell = tell
        self._jobs: queue.SimpleQueue[tuple[contextvars.Context, Spawn] | None] = (
            queue.SimpleQueue()
        )
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def start(self, effect: Spawn) -> None:
        """Run a function; its end is told."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._threads += 1
                name = f"loopspan-tool-{self._threads}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
        self._jobs.put((contextvars.copy_context(), effect))

    def close(self) -> None:
        """Let the threads end, each after what it is at."""
        for _ in range(self._threads):
            self._jobs.put(None)
        self._threads = 0

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            context, effect = job
            done = context.run(ended, effect)
            del job, context, effect  # an idle thread keeps nothing of a call alive
            with self._lock:
                self._idle += 1
            self._tell(done)


def ended(effect: Spawn) -> Done:
    """Run a function, its span current, and return its end."""
    function = effect.function
    try:
        with current(effect.span):
            value = _run_coroutine(function) if effect.is_async else function()
    except BaseException as error:  # noqa: BLE001  # the flow decides what an exception means
        return Done(effect.key, time.time_ns(), error=error)
    return Done(effect.key, time.time_ns(), value)


def _run_coroutine(function: Callable[[], Any]) -> Any:
    import asyncio  # only programs with async tools pay for it

    return asyncio.run(function())


def current(span: trace.Span) -> Any:
    """Make a span current for a stretch of code that neither yields nor touches the span itself."""
    return trace.use_span(span, record_exception=False, set_status_on_exception=False)

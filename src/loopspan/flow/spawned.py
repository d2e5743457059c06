"""Functions that run beside a flow: their threads, their deadlines, their context."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

from opentelemetry import trace

from loopspan.errors import ToolTimeout
from loopspan.flow.effects import Done, Spawn


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


def start_thread(effect: Spawn, tell: Callable[[Done], object]) -> None:
    """Run a function in a thread of its own, in a copy of this context; `tell` hears of its end.

    The thread is a daemon: a tool that hangs must not hold up the end of the program.
    """
    context = contextvars.copy_context()
    target = _run_coroutine if effect.is_async else effect.function

    def work() -> None:
        tell(context.run(_ended, effect, target))

    threading.Thread(target=work, name=f"loopspan-tool-{effect.key}", daemon=True).start()


def _ended(effect: Spawn, function: Callable[..., Any]) -> Done:
    try:
        with current(effect.span):
            value = function(effect.function) if effect.is_async else function()
    except BaseException as error:  # noqa: BLE001  # the flow decides what an exception means
        return Done(effect.key, time.time_ns(), error=error)
    return Done(effect.key, time.time_ns(), value)


def _run_coroutine(function: Callable[[], Any]) -> Any:
    import asyncio  # only programs with async tools pay for it

    return asyncio.run(function())


def current(span: trace.Span) -> Any:
    """Make a span current for a stretch of code that neither yields nor touches the span itself."""
    return trace.use_span(span, record_exception=False, set_status_on_exception=False)

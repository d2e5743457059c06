"""The queue between a program and its exporter: it never waits, and knows its bytes."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from loopspan.environment import variable
from loopspan.errors import ConfigurationError
from loopspan.telemetry.export.delivery import Delivery, logger
from loopspan.telemetry.record import copied

MAX_QUEUE_BYTES = 64 * 1024 * 1024
EXIT_TIMEOUT = 5.0
"""Seconds that the end of a program may take for what is still to be sent."""
_GRACE = 1.0
"""Seconds more for the thread to notice that the time is over."""
_PROMPT_BYTES = 2 * 1024 * 1024
"""With so much in the queue nobody waits for the schedule."""


class ExportProcessor(SpanProcessor):
    """Hands spans to an exporter in a thread of its own, as `OTEL_BSP_*` say.

    The queue is bounded by spans and by `max_queue_bytes`; past that the oldest span is dropped and
    counted. A program that ends waits at most `exit_timeout` seconds.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        delivery: Delivery | None = None,
        *,
        max_queue_bytes: int = MAX_QUEUE_BYTES,
        exit_timeout: float = EXIT_TIMEOUT,
    ) -> None:
        """Raises `ConfigurationError` for a variable that is no number above 0."""
        self.exporter = exporter
        self.delivery = delivery or Delivery()
        self._max_spans = _number("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
        self._max_batch = min(_number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512), self._max_spans)
        self._delay = _number("OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000
        self._max_bytes = max_queue_bytes
        self._exit_timeout = exit_timeout
        self._reset()
        _alive.add(self)

    def _reset(self) -> None:
        self._queue: deque[tuple[ReadableSpan, int]] = deque()
        self._bytes = 0
        self._sending = 0
        self._flushing = False
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Do nothing: spans are taken when they end."""

    def on_end(self, span: ReadableSpan) -> None:
        """Put a sampled span into the queue; never waits for anything but other spans."""
        context = span.get_span_context()
        if context is None or not context.trace_flags.sampled:
            return
        size = weight(span)
        with self._changed:
            closed = self._closed
            lost = 0 if closed else self._put(span, size)
        self.delivery.drop(1 if closed else lost, "shutdown" if closed else "queue_full")

    def _put(self, span: ReadableSpan, size: int) -> int:
        """Put a span into the queue; returns how many others had to go."""
        self._queue.append((span, size))
        self._bytes += size
        lost = 0
        while len(self._queue) > self._max_spans or self._bytes > self._max_bytes:
            self._bytes -= self._queue.popleft()[1]
            lost += 1
        if self._thread is None:
            self._start()
        elif len(self._queue) == 1 or self._due():
            self._changed.notify_all()
        return lost

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that is in the queue has been sent or dropped, at most `timeout` seconds.

        Returns whether it was.
        """
        with self._changed:
            self._flushing = bool(self._queue)
            if self._thread is None:
                return not self._queue
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._queue and not self._sending, timeout)

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush."""
        return self.flush(timeout_millis / 1000)

    def shutdown(self) -> None:
        """Send what is left, within the time that the end of a program has, and stop."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        self.delivery.hurry(self._exit_timeout)
        thread = self._thread
        if thread is not None:
            thread.join(self._exit_timeout + _GRACE)
        with self._changed:
            left = len(self._queue) + self._sending
            self._queue.clear()
        self.delivery.drop(left, "shutdown")
        if thread is None or not thread.is_alive():
            self.exporter.shutdown()

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name="loopspan-export", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread to be had: the next span tries again
            self.delivery.problem = str(error)
        else:
            self._thread = thread

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            try:
                result = self.exporter.export(batch)
            except Exception as error:  # noqa: BLE001  # whatever an exporter raises
                # Its text may hold an address with a password.
                logger.warning("the exporter failed: %s", type(error).__name__)
                result = SpanExportResult.FAILURE
            self._told(batch, result)
            del batch
            with self._changed:
                self._sending = 0
                self._changed.notify_all()

    def _told(self, batch: list[ReadableSpan], result: SpanExportResult) -> None:
        """Count for an exporter that counts nothing itself."""
        counted = getattr(_innermost(self.exporter), "delivery", None) is self.delivery
        if counted:
            return
        if result is SpanExportResult.SUCCESS:
            self.delivery.add_sent(len(batch))
        else:
            self.delivery.drop(len(batch), "refused")

    def _next(self) -> list[ReadableSpan] | None:
        """Wait for a batch; `None` when all is over."""
        with self._changed:
            self._wait_until_due()
            if not self._queue:
                return None
            batch: list[ReadableSpan] = []
            while self._queue and len(batch) < self._max_batch:
                span, size = self._queue.popleft()
                self._bytes -= size
                batch.append(span)
            self._flushing = self._flushing and bool(self._queue)
            self._sending = len(batch)
            return batch

    def _wait_until_due(self) -> None:
        until = float("inf")
        while not self._due():
            if not self._queue:
                until = float("inf")
                self._changed.wait()
                continue
            until = min(until, time.monotonic() + self._delay)
            left = until - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _due(self) -> bool:
        full = len(self._queue) >= self._max_batch or self._bytes >= _PROMPT_BYTES
        return self._closed or full or self._flushing

    def after_fork(self) -> None:
        """Begin anew in a child process; what was queued is the parent's to send."""
        self._reset()
        self.delivery.begin()
        again = getattr(_innermost(self.exporter), "after_fork", None)
        if again is not None:
            again()


_alive: weakref.WeakSet[ExportProcessor] = weakref.WeakSet()


def _after_fork() -> None:
    for processor in list(_alive):
        processor.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _innermost(exporter: Any) -> Any:
    while (inner := getattr(exporter, "inner", None)) is not None:
        exporter = inner
    return exporter


def weight(span: ReadableSpan) -> int:
    """Return about how many bytes a span takes, without encoding it."""
    size = 512 + _weight(span.attributes)
    return size + sum(64 + _weight(event.attributes) for event in span.events)


def _weight(attributes: Mapping[str, Any] | None) -> int:
    size = 0
    for value in copied(attributes).values():
        if isinstance(value, str | bytes):
            size += 64 + len(value)
    return size


def _number(name: str, default: int) -> int:
    given = variable(name)
    try:
        number = default if given is None else int(given)
        if number > 0:
            return number
    except ValueError:
        pass
    raise ConfigurationError(f"{name} is {given!r}; give a whole number above 0")

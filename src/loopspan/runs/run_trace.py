"""The span processor that keeps runs in the process, bounded, and tells of them live."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from loopspan.runs.fold import Fold
from loopspan.runs.packed import PackedSpan
from loopspan.runs.reader import read_run
from loopspan.runs.steps import Run, RunStep
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

logger = logging.getLogger("loopspan.runs")


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What happened in a run: a step that is new or has changed, or the end of the run."""

    run_id: str
    step: RunStep | None = None
    run: Run | None = None


Listener: TypeAlias = Callable[[RunEvent], object]


@dataclass(slots=True)
class _Kept:
    """The spans of one run."""

    touched: float
    open: dict[int, ReadableSpan] = field(default_factory=dict)
    ended: list[PackedSpan] = field(default_factory=list)
    bytes: int = 0
    fold: Fold | None = None
    """What listeners have been told so far; there while somebody listens and the run goes on."""

    def records(self) -> list[SpanRecord]:
        """Return the spans as readers take them."""
        still_open = [PackedSpan(span).record() for span in self.open.values()]
        return still_open + [span.record() for span in self.ended]


class RunTrace(SpanProcessor):
    """Add it to a `TracerProvider` to see its runs in the process.

    It keeps at most `max_runs` runs, `max_bytes` bytes and `max_age` seconds; past that it drops
    the oldest whole run and counts it in `dropped`. It never raises into the traced program.
    """

    def __init__(
        self,
        *,
        max_runs: int = 500,
        max_bytes: int = 64 * 1024 * 1024,
        max_age: float = 24 * 3600.0,
    ) -> None:
        self.max_runs = max_runs
        self.max_bytes = max_bytes
        self.max_age = max_age
        self.dropped = 0
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each event, in the thread of the run; returns a way to stop it.

        A listener must be quick: the run waits for it.
        """
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not listener)

        return stop

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Take note of a span that starts; a `chat` span tells its request before the answer."""
        self._guarded(span, ended=False)

    def on_end(self, span: ReadableSpan) -> None:
        """Take the whole span."""
        self._guarded(span, ended=True)

    def shutdown(self) -> None:
        """Keep what is there; nothing more is told to listeners."""
        self._listeners = ()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Return at once: spans are taken as they come."""
        return True

    def run(self, run_id: str) -> Run | None:
        """Return a run as far as it has come, `None` where it is unknown or was dropped."""
        with self._lock:
            kept = self._kept.get(run_id)
            spans = None if kept is None else kept.records()
        return read_run(spans) if spans else None

    def spans(self, run_id: str) -> tuple[SpanRecord, ...]:
        """Return the spans of a run as plain data, those that are still open first."""
        with self._lock:
            kept = self._kept.get(run_id)
            return () if kept is None else tuple(kept.records())

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all runs that are kept, the oldest first."""
        with self._lock:
            self._forget_old()
            return tuple(self._kept)

    def runs(self) -> tuple[Run, ...]:
        """Return all runs that are kept, the oldest first."""
        with self._lock:
            self._forget_old()
            groups = [kept.records() for kept in self._kept.values()]
        return tuple(read_run(spans) for spans in groups if spans)

    def clear(self) -> None:
        """Forget all runs."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _guarded(self, span: ReadableSpan, *, ended: bool) -> None:
        try:
            attributes = span.attributes
            run_id = None if attributes is None else attributes.get(names.RUN_ID)
            if isinstance(run_id, str):
                self._take(run_id, span, ended)
        except Exception:
            logger.warning("a span could not be taken into RunTrace", exc_info=True)

    def _take(self, run_id: str, span: ReadableSpan, ended: bool) -> None:
        with self._lock:
            kept = self._kept.get(run_id)
            if kept is None:
                if ended or not _is_run(span):
                    return  # its run was dropped while it went on
                kept = self._kept[run_id] = _Kept(time.monotonic())
            kept.touched = time.monotonic()
            listeners = self._listeners
            if not listeners:
                kept.fold = None
            elif kept.fold is None:
                kept.fold = Fold()
                kept.fold.steps(kept.records())
            self._keep(kept, span, ended)
            self._shrink()
        if listeners:
            self._tell(listeners, run_id, span, kept, ended)

    def _keep(self, kept: _Kept, span: ReadableSpan, ended: bool) -> None:
        context = span.get_span_context()
        span_id = 0 if context is None else context.span_id
        if not ended:
            kept.open[span_id] = span
            return
        kept.open.pop(span_id, None)
        packed = PackedSpan(span)
        kept.ended.append(packed)
        kept.bytes += packed.bytes
        self._bytes += packed.bytes

    def _tell(
        self,
        listeners: tuple[Listener, ...],
        run_id: str,
        span: ReadableSpan,
        kept: _Kept,
        ended: bool,
    ) -> None:
        fold = kept.fold or Fold()
        record = PackedSpan(span).record()
        step = fold.ended(record) if ended else fold.started(record)
        events = [] if step is None else [RunEvent(run_id, step=step)]
        if ended and _is_run(span):
            kept.fold = None
            events.append(RunEvent(run_id, run=read_run(kept.records())))
        for event in events:
            for listener in listeners:
                try:
                    listener(event)
                except Exception:
                    logger.warning("a listener of RunTrace failed", exc_info=True)

    def _shrink(self) -> None:
        while self._kept and (len(self._kept) > self.max_runs or self._bytes > self.max_bytes):
            self._drop()
        self._forget_old()

    def _forget_old(self) -> None:
        oldest = time.monotonic() - self.max_age
        while self._kept and next(iter(self._kept.values())).touched < oldest:
            self._drop()

    def _drop(self) -> None:
        _, kept = self._kept.popitem(last=False)
        self._bytes -= kept.bytes
        self.dropped += 1


def _is_run(span: ReadableSpan) -> bool:
    return (span.attributes or {}).get(names.OPERATION_NAME) == names.INVOKE_AGENT

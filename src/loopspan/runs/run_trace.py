"""The span processor that keeps runs in the process, bounded, and tells of them live."""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry import metrics
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from loopspan.runs.events import Listener, RunEvent, RunEvents
from loopspan.runs.fold import Fold
from loopspan.runs.foreign import is_genai
from loopspan.runs.kept import DropReason, Exports, KeptRun, RunTraceStats
from loopspan.runs.packed import PackedSpan
from loopspan.runs.steps import Run
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord, copied

logger = logging.getLogger("loopspan.runs")


class RunTrace(SpanProcessor):
    """Add it to a `TracerProvider` to see its runs in the process.

    It keeps at most `max_runs` runs, `max_bytes` bytes and `max_age` seconds; past that it drops
    the oldest whole run and counts it: one that is over before one that goes on, a pinned one last.
    Spans of other instrumentations are kept by trace, where they are of a generative AI. It never
    raises into the traced program. A run whose process was forked, or whose provider was
    shut down, before it ended is `lost`.
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
        self._dropped: Counter[DropReason] = Counter()
        self._events_lost = 0
        self._exports: tuple[Exports, ...] = ()
        self._kept: OrderedDict[str, KeptRun] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()
        self._enabled = True
        # Without a meter provider this counts nowhere, and costs nothing.
        self._metric = metrics.get_meter("loopspan").create_counter(
            names.RECORDER_DROPPED, unit="{run}", description="Runs that RunTrace has dropped"
        )
        _forked.add(self)

    @property
    def enabled(self) -> bool:
        """Whether spans are taken; set it to `False` to take none and pay nothing."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = value
        if not value:
            self._lose_open()

    @property
    def dropped(self) -> int:
        """How many runs were dropped; `stats` says why."""
        return sum(self.stats.dropped.values())

    @property
    def stats(self) -> RunTraceStats:
        """How full it is, and what it has dropped so far."""
        lost: Counter[str] = Counter()
        for export in self._exports:
            lost.update(export.dropped)
        with self._lock:
            dropped = dict(self._dropped)
            kept, size = len(self._kept), self._bytes
            return RunTraceStats(kept, size, dropped, self._events_lost, dict(lost))

    def watch(self, export: Exports) -> None:
        """Tell in `stats` what this export does not deliver; `configure()` does so by itself."""
        self._exports = (*self._exports, export)

    def events(self, maxsize: int = 1000) -> RunEvents:
        """Return a queue of events for a reader of any speed, in a thread or in a task.

        `with run_trace.events() as events: for event in events`, or the same with `async`. It
        holds at most `maxsize` events; `ValueError` below 1.
        """
        return RunEvents(self.subscribe, self._event_lost, maxsize)

    def _event_lost(self) -> None:
        with self._lock:
            self._events_lost += 1

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
        if self._enabled:
            self._guarded(span, ended=False)

    def on_end(self, span: ReadableSpan) -> None:
        """Take the whole span."""
        if self._enabled:
            self._guarded(span, ended=True)

    def shutdown(self) -> None:
        """Keep what is there; nothing more is told to listeners, open runs are `lost`."""
        self._listeners = ()
        self._lose_open()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Return at once: spans are taken as they come."""
        return True

    def run(self, run_id: str) -> Run | None:
        """Return a run as far as it has come, `None` where it is unknown or was dropped."""
        kept = self._copy(run_id)
        runs = () if kept is None else kept.runs()
        return next((run for run in runs if run.run_id == run_id), None)

    def spans(self, run_id: str) -> tuple[SpanRecord, ...]:
        """Return the spans of a run as plain data, those that are still open first."""
        kept = self._copy(run_id)
        return () if kept is None else tuple(kept.records())

    def _copy(self, run_id: str) -> KeptRun | None:
        with self._lock:
            kept = self._kept.get(_key_of(run_id))
            return None if kept is None else kept.copy()

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all runs that are kept, the oldest first."""
        with self._lock:
            gone = self._forget_old()
            copies = [(k, v.copy() if v.foreign else None) for k, v in self._kept.items()]
        self._count(gone)
        ids = [[key] if kept is None else [r.run_id for r in kept.runs()] for key, kept in copies]
        return tuple(run_id for several in ids for run_id in several)

    def runs(self) -> tuple[Run, ...]:
        """Return all runs that are kept, the oldest first."""
        with self._lock:
            gone = self._forget_old()
            copies = [kept.copy() for kept in self._kept.values()]
        self._count(gone)
        return tuple(run for copy in copies for run in copy.runs())

    def pin(self, run_id: str, pinned: bool = True) -> bool:
        """Drop this run last, and never for its age; says whether the run is there."""
        with self._lock:
            kept = self._kept.get(_key_of(run_id))
            if kept is not None:
                kept.pinned = pinned
            return kept is not None

    def drop(self, run_id: str) -> bool:
        """Forget one run, which is not counted as dropped; says whether it was there."""
        with self._lock:
            kept = self._kept.pop(_key_of(run_id), None)
            self._bytes -= 0 if kept is None else kept.bytes
            return kept is not None

    def clear(self) -> None:
        """Forget all runs."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _guarded(self, span: ReadableSpan, *, ended: bool) -> None:
        try:
            told = copied(span.attributes)
            run_id = told.get(names.RUN_ID)
            if isinstance(run_id, str):
                self._take(run_id, span, told, ended, foreign=False)
            elif is_genai(told):
                context = span.get_span_context()
                trace_id = 0 if context is None else context.trace_id
                self._take(f"{trace_id:032x}", span, told, ended, foreign=True)
        except Exception:
            logger.warning("a span could not be taken into RunTrace", exc_info=True)

    def _take(
        self, key: str, span: ReadableSpan, told: Mapping[str, Any], ended: bool, *, foreign: bool
    ) -> None:
        is_run = told.get(names.OPERATION_NAME) == names.INVOKE_AGENT
        # Packing is the dear part: not under the lock, and not for a run that was dropped.
        packed = PackedSpan(span, told) if ended and (foreign or key in self._kept) else None
        context = span.get_span_context()
        span_id = 0 if context is None else context.span_id
        with self._lock:
            if foreign and self._is_told(span):
                return
            kept = self._kept.get(key)
            if kept is None:
                if not foreign and (ended or not is_run):
                    return  # its run was dropped while it went on
                kept = self._kept[key] = KeptRun(time.monotonic(), foreign)
            elif kept.elsewhere:
                return
            kept.touched = time.monotonic()
            listeners = () if foreign else self._listeners
            if not listeners:
                kept.fold = None
            elif kept.fold is None:
                kept.fold = Fold()
                kept.fold.steps(kept.records())
            before = kept.bytes
            if not ended:
                kept.start(span_id, span, told)
            else:
                kept.end(span_id, packed or PackedSpan(span, told))
                kept.lost = kept.lost and not is_run
            self._bytes += kept.bytes - before
            gone = self._shrink(key)
        if gone:
            self._count(gone)
        if listeners:
            self._tell(listeners, key, packed or PackedSpan(span, told), kept, ended and is_run)

    def _is_told(self, span: ReadableSpan) -> bool:
        """Whether an instrumented SDK tells again of a model call that a span of ours is around."""
        above = 0 if span.parent is None else span.parent.span_id
        for kept in reversed(self._kept.values()):
            if not kept.foreign and above in kept.open:
                around = kept.open[above][0].attributes or {}
                return around.get(names.OPERATION_NAME) == names.CHAT
        return False

    def _tell(
        self,
        listeners: tuple[Listener, ...],
        run_id: str,
        packed: PackedSpan,
        kept: KeptRun,
        over: bool,
    ) -> None:
        fold = kept.fold or Fold()
        record = packed.record()
        step = fold.started(record) if record.ended_at is None else fold.ended(record)
        events = [] if step is None else [RunEvent(run_id, step=step)]
        if over:
            with self._lock:
                kept.fold = None
                copy = kept.copy()
            events += [RunEvent(run_id, run=run) for run in copy.runs()]
        for event in events:
            for listener in listeners:
                try:
                    listener(event)
                except Exception:
                    logger.warning("a listener of RunTrace failed", exc_info=True)

    def _shrink(self, current: str) -> list[DropReason]:
        gone: list[DropReason] = []
        while self._kept and len(self._kept) > self.max_runs:
            gone.append(self._drop(self._least(current), "runs"))
        while self._kept and self._bytes > self.max_bytes:
            gone.append(self._drop(self._least(current), "bytes"))
        first = next(iter(self._kept.values()), None)
        if first is not None and first.touched < time.monotonic() - self.max_age:
            gone += self._forget_old()
        return gone

    def _least(self, current: str) -> str:
        """Return the run to drop: the oldest that is over, else goes on, else is pinned."""
        others = [(run_id, kept) for run_id, kept in self._kept.items() if run_id != current]
        for run_id, kept in others:
            if not kept.pinned and (kept.lost or not kept.open):
                return run_id
        unpinned = (run_id for run_id, kept in others if not kept.pinned)
        return next(unpinned, others[0][0] if others else current)

    def _forget_old(self) -> list[DropReason]:
        oldest = time.monotonic() - self.max_age
        old = [i for i, kept in self._kept.items() if kept.touched < oldest and not kept.pinned]
        return [self._drop(run_id, "age") for run_id in old]

    def _drop(self, run_id: str, reason: DropReason) -> DropReason:
        self._bytes -= self._kept.pop(run_id).bytes
        self._dropped[reason] += 1
        return reason

    def _count(self, gone: Sequence[DropReason]) -> None:
        """Add to the metric, which may do anything and so never under the lock."""
        for reason in gone:
            self._metric.add(1, {"reason": reason})

    def _lose_open(self) -> None:
        with self._lock:
            for kept in self._kept.values():
                kept.lost = bool(kept.open)

    def _begin_in_child(self) -> None:
        """The lock may be held for ever, and what goes on, goes on in the parent."""
        self._lock = threading.Lock()
        self._listeners = ()
        self._lose_open()
        for kept in self._kept.values():
            kept.elsewhere, kept.fold = kept.lost, None


_forked: weakref.WeakSet[RunTrace] = weakref.WeakSet()


def _begin_in_child() -> None:
    for run_trace in list(_forked):
        run_trace._begin_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


def _key_of(run_id: str) -> str:
    """Return under which key a run is kept: those of another's trace are kept together."""
    trace_id, dash, span_id = run_id.partition("-")
    return trace_id if dash and len(trace_id) == 32 and len(span_id) == 16 else run_id

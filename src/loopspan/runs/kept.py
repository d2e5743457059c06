"""What `RunTrace` holds of one run, and what it weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from opentelemetry.sdk.trace import ReadableSpan

from loopspan.runs.fold import Fold
from loopspan.runs.packed import PackedSpan, events_weight, weight
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

DropReason: TypeAlias = Literal["runs", "bytes", "age"]
"""Which bound a run was dropped for."""


@dataclass(frozen=True, slots=True)
class RunTraceStats:
    """How full a `RunTrace` is, and what it has dropped so far.

    `bytes` is an estimate of what the kept runs weigh; `events_lost` counts what readers of
    `events()` were too slow for.
    """

    runs: int
    bytes: int
    dropped: Mapping[DropReason, int]
    events_lost: int


@dataclass(slots=True)
class _Open:
    """A span that goes on; its events are weighed once each."""

    span: ReadableSpan
    bytes: int
    events: int = 0


@dataclass(slots=True)
class KeptRun:
    """The spans of one run."""

    touched: float
    open: dict[int, _Open] = field(default_factory=dict)
    ended: list[PackedSpan] = field(default_factory=list)
    bytes: int = 0
    pinned: bool = False
    lost: bool = False
    """Whether nobody is left to end it."""
    elsewhere: bool = False
    """Whether it goes on in the process that this one was forked from."""
    fold: Fold | None = None
    """What listeners have been told so far; there while somebody listens and the run goes on."""

    def start(self, span_id: int, span: ReadableSpan) -> None:
        """Take a span that starts."""
        self._weigh_open()
        weighed = weight(span)
        self.open[span_id] = _Open(span, weighed)
        self.bytes += weighed

    def end(self, span_id: int, packed: PackedSpan) -> None:
        """Take the whole span."""
        before = self.open.pop(span_id, None)
        self.bytes += packed.bytes - (0 if before is None else before.bytes)
        self.ended.append(packed)
        self._weigh_open()

    def _weigh_open(self) -> None:
        for each in self.open.values():
            events = each.span.events
            if len(events) > each.events:
                more = events_weight(events[each.events :])
                each.events = len(events)
                each.bytes += more
                self.bytes += more

    def copy(self) -> KeptRun:
        """Return what it is now; quick, so that its spans can be read while it goes on."""
        return replace(self, open=dict(self.open), ended=list(self.ended), fold=None)

    def records(self) -> list[SpanRecord]:
        """Return the spans as readers take them."""
        still_open = [PackedSpan(each.span).record() for each in self.open.values()]
        if self.lost:
            still_open = [_lost(each) for each in still_open]
        return still_open + [span.record() for span in self.ended]


def _lost(record: SpanRecord) -> SpanRecord:
    return replace(record, attributes={**record.attributes, names.OUTCOME: "lost"})

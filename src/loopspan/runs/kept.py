"""What `RunTrace` holds of one run, and what it weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

from opentelemetry.sdk.trace import ReadableSpan

from loopspan.runs.fold import Fold
from loopspan.runs.packed import PackedSpan, weight
from loopspan.runs.reader import read_run, read_runs
from loopspan.runs.steps import Run
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

DropReason: TypeAlias = Literal["runs", "bytes", "age"]
"""Which bound a run was dropped for."""


@dataclass(frozen=True, slots=True)
class RunTraceStats:
    """How full a `RunTrace` is, and what it has dropped so far.

    `bytes` is an estimate of what the kept runs weigh; `events_lost` counts what readers of
    `events()` were too slow for; `export_dropped` the spans that the watched exports did not
    deliver, by reason.
    """

    runs: int
    bytes: int
    dropped: Mapping[DropReason, int]
    events_lost: int
    export_dropped: Mapping[str, int] = field(default_factory=dict)


class Exports(Protocol):
    """An export that counts what it drops, such as a `Delivery`."""

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many spans were not exported, by reason."""
        ...


@dataclass(slots=True)
class KeptRun:
    """The spans of one run, or of one trace of another instrumentation."""

    touched: float
    foreign: bool = False
    """Whether these are the spans of a trace that another instrumentation made."""
    open: dict[int, tuple[ReadableSpan, int]] = field(default_factory=dict)
    """Spans that go on, and what they weighed when they started."""
    ended: list[PackedSpan] = field(default_factory=list)
    bytes: int = 0
    pinned: bool = False
    lost: bool = False
    """Whether nobody is left to end it."""
    elsewhere: bool = False
    """Whether it goes on in the process that this one was forked from."""
    fold: Fold | None = None
    """What listeners have been told so far; there while somebody listens and the run goes on."""

    def start(self, span_id: int, span: ReadableSpan, told: Mapping[str, Any]) -> None:
        """Take a span that starts, with these attributes."""
        weighed = weight(told)
        self.open[span_id] = (span, weighed)
        self.bytes += weighed

    def end(self, span_id: int, packed: PackedSpan) -> None:
        """Take the whole span."""
        before = self.open.pop(span_id, None)
        self.bytes += packed.bytes - (0 if before is None else before[1])
        if not self.open:
            self.open = {}  # one that has held something keeps the room for it
        self.ended.append(packed)

    def copy(self) -> KeptRun:
        """Return what it is now; quick, so that its spans can be read while it goes on."""
        return replace(self, open=dict(self.open), ended=list(self.ended), fold=None)

    def runs(self) -> tuple[Run, ...]:
        """Return what these spans tell; those of another instrumentation may tell of several."""
        spans = self.records()
        if self.foreign:
            return read_runs(spans)
        return (read_run(spans),) if spans else ()

    def records(self) -> list[SpanRecord]:
        """Return the spans as readers take them."""
        still_open = [PackedSpan(span).record() for span, _ in self.open.values()]
        if self.lost:
            still_open = [_lost(each) for each in still_open]
        return still_open + [span.record() for span in self.ended]


def _lost(record: SpanRecord) -> SpanRecord:
    return replace(record, attributes={**record.attributes, names.OUTCOME: "lost"})

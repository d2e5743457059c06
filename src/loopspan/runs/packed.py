"""Spans of the SDK, kept small: what `RunTrace` holds of a run that is over.

An SDK span weighs several times as much. Spans of one kind have the same attribute names, so the
names are kept once and each span has only its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import getsizeof
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import StatusCode, format_span_id, format_trace_id

from loopspan.telemetry.record import SpanEvent, SpanRecord, SpanState, copied

_STATES: Mapping[StatusCode, SpanState] = {
    StatusCode.UNSET: "unset",
    StatusCode.OK: "ok",
    StatusCode.ERROR: "error",
}
_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {}
_MOST_NAMES = 1000
"""How many different lists of names are shared; past that a span keeps its own."""
_SPAN_BYTES = 600
"""What a span weighs beside its texts."""
_EVENT_BYTES = 300
"""What an event weighs beside its texts."""


class PackedSpan:
    """A span that has ended."""

    __slots__ = (
        "_ended_at",
        "_events",
        "_message",
        "_name",
        "_names",
        "_parent_id",
        "_span_id",
        "_started_at",
        "_status",
        "_trace_id",
        "_values",
        "bytes",
    )

    def __init__(self, span: ReadableSpan, told: Mapping[str, Any] | None = None) -> None:
        """Take a span; `told` are its attributes where they have been taken already."""
        context, parent = span.get_span_context(), span.parent
        told = copied(span.attributes) if told is None else told
        self._names = _shared(tuple(told))
        self._values = tuple(told.values())
        self._name = span.name
        self._trace_id = 0 if context is None else context.trace_id
        self._span_id = 0 if context is None else context.span_id
        self._parent_id = 0 if parent is None else parent.span_id
        self._started_at = span.start_time or 0
        self._ended_at = span.end_time
        events = span.events
        self._events = tuple([SpanEvent(e.name, e.timestamp, copied(e.attributes)) for e in events])
        self._status = _STATES[span.status.status_code]
        self._message = span.status.description
        self.bytes = _SPAN_BYTES + _texts(self._values)
        if events:
            self.bytes += _events_weight(events)

    def record(self) -> SpanRecord:
        """Return the span as readers take it."""
        return SpanRecord(
            name=self._name,
            trace_id=format_trace_id(self._trace_id) if self._trace_id else None,
            span_id=format_span_id(self._span_id) if self._span_id else None,
            parent_id=format_span_id(self._parent_id) if self._parent_id else None,
            started_at=self._started_at,
            ended_at=self._ended_at,
            attributes=dict(zip(self._names, self._values, strict=True)),
            events=self._events,
            status=self._status,
            status_message=self._message,
        )


def weight(told: Mapping[str, Any]) -> int:
    """Return what a span with these attributes weighs in bytes, before it has ended."""
    return _SPAN_BYTES + _texts(told.values())


def _events_weight(events: Iterable[Event]) -> int:
    return sum(_EVENT_BYTES + _texts(copied(e.attributes).values()) for e in events)


def _shared(keys: tuple[str, ...]) -> tuple[str, ...]:
    if len(_NAMES) >= _MOST_NAMES:
        return _NAMES.get(keys, keys)
    return _NAMES.setdefault(keys, keys)


def _texts(values: Iterable[Any]) -> int:
    weighed = 0
    for value in values:
        if type(value) is str:
            size = len(value)
            # Whether a short text is of narrow characters is not worth asking.
            weighed += _TEXT_BYTES + size if size < _SHORT else getsizeof(value)
    return weighed


_TEXT_BYTES = getsizeof("")
_SHORT = 64

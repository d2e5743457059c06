"""The content of a span that was put beside its attributes: in an event, or in a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from loopspan.runs import values
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanEvent, SpanRecord
from loopspan.telemetry.store import ContentStore

_EVENTS = (names.DETAILS_EVENT, names.CONTENT_EVENT)


def with_content(span: SpanRecord, store: ContentStore | None = None) -> SpanRecord:
    """Return the span with its content in its attributes; the same one where it is there."""
    for event in span.events:
        if event.name in _EVENTS:
            others = tuple(each for each in span.events if each is not event)
            attributes = {**event.attributes, **span.attributes}
            return replace(span, attributes=attributes, events=others)
    key = values.text(span.attributes, names.CONTENT_KEY)
    if key is None or store is None:
        return span
    stored = store.get(key)
    return span if stored is None else _with_stored(span, stored)


def _with_stored(span: SpanRecord, stored: Mapping[str, Any]) -> SpanRecord:
    told, events = stored.get("attributes"), stored.get("events")
    kept = {k: v for k, v in span.attributes.items() if k != names.CONTENT_KEY}
    whole = [
        SpanEvent(str(each["name"]), int(each["at"]), each["attributes"])
        for each in (events if isinstance(events, list) else ())
    ]
    replaced = {each.name for each in whole}
    others = [event for event in span.events if event.name not in replaced]
    description = stored.get("description")
    return replace(
        span,
        attributes={**(told if isinstance(told, dict) else {}), **kept},
        events=tuple(sorted((*others, *whole), key=lambda event: event.at)),
        status_message=description if isinstance(description, str) else span.status_message,
    )

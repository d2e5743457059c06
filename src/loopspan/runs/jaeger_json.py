"""Spans out of the JSON that Jaeger's page downloads, which is not OTLP's.

https://www.jaegertracing.io/docs/latest/architecture/apis/#internal-http-json (the page's own API)
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.jsontext import load
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanEvent, SpanRecord, SpanState

_LISTS = frozenset({names.RESPONSE_FINISH_REASONS, names.REQUEST_STOP_SEQUENCES})
"""Attributes that are lists; Jaeger keeps a list as JSON text."""

_OWN = ("error", "internal.span.format", "span.kind", "w3c.tracestate")
"""What Jaeger puts among the tags of a span beside its attributes."""

_STATES: Mapping[str, SpanState] = {"OK": "ok", "ERROR": "error"}


def spans(document: Mapping[str, Any]) -> Iterator[SpanRecord]:
    """Yield the spans of all traces of a document; raises `ValueError` where one is damaged.

    Times are in microseconds there, so the last three digits of ours are zeros.
    """
    for trace in document["data"]:
        try:
            yield from (_span(span) for span in trace["spans"])
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(f"a span of this Jaeger JSON is damaged: {error!r}") from None


def _span(span: Mapping[str, Any]) -> SpanRecord:
    tags = _attributes(span.get("tags"))
    started_at = int(span["startTime"]) * 1000
    parents = (r for r in span.get("references") or () if r.get("refType") == "CHILD_OF")
    return SpanRecord(
        name=str(span.get("operationName") or ""),
        trace_id=str(span["traceID"]).zfill(32),
        span_id=str(span["spanID"]).zfill(16),
        parent_id=next((str(each["spanID"]).zfill(16) for each in parents), None),
        started_at=started_at,
        ended_at=started_at + int(span.get("duration") or 0) * 1000,
        attributes={k: v for k, v in tags.items() if k not in _OWN and not k.startswith("otel.")},
        events=tuple(sorted(map(_event, span.get("logs") or ()), key=lambda event: event.at)),
        status=_STATES.get(str(tags.get("otel.status_code")), "unset"),
        status_message=tags.get("otel.status_description") or None,
    )


def _event(log: Mapping[str, Any]) -> SpanEvent:
    attributes = _attributes(log.get("fields"))
    name = str(attributes.pop("event", ""))
    return SpanEvent(name, int(log["timestamp"]) * 1000, attributes)


def _attributes(tags: Any) -> dict[str, Any]:
    return {str(tag["key"]): _value(tag) for tag in tags or ()}


def _value(tag: Mapping[str, Any]) -> Any:
    value = tag.get("value")
    match tag.get("type"):
        case "int64":
            return int(value)  # type: ignore[arg-type]  # what is none is told as damaged
        case "float64":
            return float(value)  # type: ignore[arg-type]
        case "binary":
            return base64.b64decode(str(value))
        case _:
            return load(value) if tag["key"] in _LISTS and isinstance(value, str) else value

"""Spans out of OTLP JSON, in each of the forms that files and backends write it.

Ids come in hex or base64, enums as numbers or names, 64-bit numbers as text or numbers
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding and what Jaeger and Tempo do).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.telemetry.record import SpanEvent, SpanRecord, SpanState

_STATES: Mapping[str, SpanState] = {"1": "ok", "2": "error", "OK": "ok", "ERROR": "error"}


def spans(document: Any) -> Iterator[SpanRecord]:
    """Yield the spans of an OTLP document, whatever wrapper a backend put around it.

    Raises `ValueError` where it is none.
    """
    if not isinstance(document, Mapping):
        raise ValueError(f"expected an OTLP JSON object, got {type(document).__name__}")
    for wrapper in ("result", "trace"):
        inner = document.get(wrapper)
        document = inner if isinstance(inner, Mapping) else document
    resources = document.get("resourceSpans") or document.get("batches")
    if resources is None:
        raise ValueError("this JSON has no 'resourceSpans': it is no OTLP trace document")
    for resource in _list(resources):
        for scope in _list(
            resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans")
        ):
            for span in _list(scope.get("spans")):
                yield _span(span)


def _span(span: Mapping[str, Any]) -> SpanRecord:
    status = span.get("status") or {}
    code = str(status.get("code") or "").removeprefix("STATUS_CODE_")
    ended = _nanoseconds(span.get("endTimeUnixNano"))
    return SpanRecord(
        name=str(span.get("name") or ""),
        trace_id=_id(span.get("traceId"), 16),
        span_id=_id(span.get("spanId"), 8),
        parent_id=_id(span.get("parentSpanId"), 8),
        started_at=_nanoseconds(span.get("startTimeUnixNano")) or 0,
        ended_at=ended,
        attributes=_attributes(span.get("attributes")),
        events=tuple(sorted(map(_event, _list(span.get("events"))), key=lambda e: e.at)),
        status=_STATES.get(code, "unset"),
        status_message=status.get("message") or None,
    )


def _event(event: Mapping[str, Any]) -> SpanEvent:
    at = _nanoseconds(event.get("timeUnixNano")) or 0
    return SpanEvent(str(event.get("name") or ""), at, _attributes(event.get("attributes")))


def _attributes(attributes: Any) -> dict[str, Any]:
    return {str(each.get("key")): _value(each.get("value") or {}) for each in _list(attributes)}


def _value(value: Mapping[str, Any]) -> Any:
    match value:
        case {"stringValue": text}:
            return text
        case {"intValue": number}:
            return int(number)
        case {"doubleValue": number}:
            return float(number)
        case {"boolValue": flag}:
            return flag
        case {"arrayValue": {"values": [*values]}}:
            return [_value(each) for each in values]
        case {"arrayValue": _}:
            return []
        case {"kvlistValue": pairs}:
            return _attributes(pairs.get("values"))
        case {"bytesValue": text}:
            return base64.b64decode(text)
        case _:
            return None


def _id(value: Any, size: int) -> str | None:
    """Return an id of so many bytes in hex, `None` where there is none."""
    if not value:
        return None
    text = str(value)
    if not re.fullmatch(rf"[0-9a-fA-F]{{{2 * size}}}", text):
        padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        try:
            text = base64.b64decode(padded).hex()
        except binascii.Error:
            raise ValueError(f"the id {text!r} is neither hex nor base64") from None
    return None if set(text) == {"0"} else text.lower()


def _nanoseconds(value: Any) -> int | None:
    return int(value) if value else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

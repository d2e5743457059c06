"""Spans out of OTLP JSON, in each of the forms that files and backends write it.

Ids come in hex or base64, enums as numbers or names, 64-bit numbers as text or numbers
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding and what Jaeger and Tempo do).
"""

from __future__ import annotations

import base64
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
    resources = document.get("resourceSpans", document.get("batches"))
    if resources is None:
        raise ValueError("this JSON has no 'resourceSpans': it is no OTLP trace document")
    for resource in _list(resources):
        for scope in _list(
            resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans")
        ):
            for span in _list(scope.get("spans")):
                yield _span(span)


def _span(span: Mapping[str, Any]) -> SpanRecord:
    status = _mapping(span.get("status"))
    code = str(status.get("code") or "").removeprefix("STATUS_CODE_")
    ended = _nanoseconds(span.get("endTimeUnixNano"))
    return SpanRecord(
        name=str(span.get("name") or ""),
        trace_id=_id(span.get("traceId"), 16),
        span_id=_id(span.get("spanId"), 8),
        parent_id=_id(span.get("parentSpanId"), 8),
        started_at=_nanoseconds(span.get("startTimeUnixNano")) or 0,
        ended_at=ended,
        attributes=attributes_of(span.get("attributes")),
        events=tuple(sorted(map(_event, _list(span.get("events"))), key=lambda e: e.at)),
        status=_STATES.get(code, "unset"),
        status_message=status.get("message") or None,
    )


def _event(event: Mapping[str, Any]) -> SpanEvent:
    at = _nanoseconds(event.get("timeUnixNano")) or 0
    return SpanEvent(str(event.get("name") or ""), at, attributes_of(event.get("attributes")))


def attributes_of(attributes: Any) -> dict[str, Any]:
    """Return attributes, given as OTLP's list of keys and values, by their name."""
    return {str(each.get("key")): _value(_mapping(each.get("value"))) for each in _list(attributes)}


def _value(value: Mapping[str, Any]) -> Any:
    match value:
        case {"stringValue": text}:
            return text
        case {"intValue": number}:
            return _integer(number)
        case {"doubleValue": str() | int() | float() as number}:
            return float(number)
        case {"boolValue": flag}:
            return flag
        case {"arrayValue": {"values": [*values]}}:
            return [_value(_mapping(each)) for each in values]
        case {"arrayValue": _}:
            return []
        case {"kvlistValue": pairs}:
            return attributes_of(_mapping(pairs).get("values"))
        case {"bytesValue": str(text)}:
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
            data = base64.b64decode(padded, validate=True)
        except ValueError:
            data = b""
        if len(data) != size:
            raise ValueError(f"the id {text[:40]!r} is neither hex nor base64 of {size} bytes")
        text = data.hex()
    return None if set(text) == {"0"} else text.lower()


def _nanoseconds(value: Any) -> int | None:
    return _integer(value) if value else None


def _integer(value: Any) -> int:
    try:
        return int(value)
    except (OverflowError, TypeError):
        raise ValueError(f"{value!r} is no whole number") from None


def _list(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; what is none of them is left out."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

"""A run on its way out: as spans in OTLP JSON, as JSON, as lines of JSON.

OTLP JSON is what backends and collectors take, and what every reader here gives the same run from.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from loopspan.jsontext import dump, dump_text
from loopspan.runs.steps import Run
from loopspan.runs.text.visible import visible_json
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanEvent, SpanRecord

_INTERNAL, _CLIENT = 1, 3
_STATUS = {"ok": 1, "error": 2}


def as_otlp_json(spans: Iterable[SpanRecord], service: str = "loopspan") -> bytes:
    """Return spans as one OTLP JSON document of a service.

    https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
    """
    scope = {"scope": {"name": "loopspan"}, "spans": [_span(span) for span in spans]}
    resource = {"attributes": _attributes({"service.name": service})}
    return dump({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})


def as_run_json(run: Run) -> bytes:
    """Return a run as one JSON object, `Run.model_dump(mode="json")`."""
    return visible_json(dump_text(run.model_dump(mode="json"))).encode()


def as_ndjson(run: Run) -> Iterator[bytes]:
    """Yield a run as lines of JSON, as `loopspan run --json` prints them: each step, then all."""
    for step in run.steps:
        yield json_line({"event": "step", "step": step.model_dump(mode="json")})
    yield run_line(run)


def run_line(run: Run) -> bytes:
    """Return a run as one such line."""
    return json_line({"event": "run", "run": run.model_dump(mode="json")})


def json_line(value: Mapping[str, Any]) -> bytes:
    """Return an object as a line of UTF-8, in which a terminal finds nothing to obey."""
    return visible_json(dump_text(value)).encode() + b"\n"


def _span(span: SpanRecord) -> dict[str, Any]:
    is_call = span.attributes.get(names.OPERATION_NAME) == names.CHAT
    told: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "kind": _CLIENT if is_call else _INTERNAL,
        "startTimeUnixNano": str(span.started_at),
        "endTimeUnixNano": None if span.ended_at is None else str(span.ended_at),
        "attributes": _attributes(span.attributes),
        "events": [_event(event) for event in span.events],
        "status": _status(span),
    }
    return {key: value for key, value in told.items() if value is not None}


def _status(span: SpanRecord) -> dict[str, Any]:
    code = _STATUS.get(span.status)
    status = {} if code is None else {"code": code}
    return status if span.status_message is None else {**status, "message": span.status_message}


def _event(event: SpanEvent) -> dict[str, Any]:
    return {
        "name": event.name,
        "timeUnixNano": str(event.at),
        "attributes": _attributes(event.attributes),
    }


def _attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case int() if -(2**63) <= value < 2**63:
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value if math.isfinite(value) else _not_finite(value)}
        case bytes():
            return {"bytesValue": base64.b64encode(value).decode()}
        case Mapping():
            return {"kvlistValue": {"values": _attributes(value)}}
        case Sequence() if not isinstance(value, str):
            return {"arrayValue": {"values": [_value(each) for each in value]}}
        case _:
            return {"stringValue": str(value)}


def _not_finite(value: float) -> str:
    """Return what protobuf's JSON writes for what JSON has no number for."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"

"""The texts of OTLP bytes, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

REQUESTS: dict[str, type[Message]] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
}

_AROUND = re.compile(r"\b(resource|scope)_(spans|logs|metrics)\.")


def texts(path: str, body: bytes) -> Iterator[tuple[str, str]]:
    """Yield place and text of all that a request body holds, then the body as a whole."""
    kind = next((kind for end, kind in REQUESTS.items() if path.endswith(end)), None)
    if kind is not None:
        message = kind()
        try:
            message.ParseFromString(body)
        except DecodeError:
            pass
        else:
            yield from _texts(message, "")
    yield f"body of {path}", body.decode("utf-8", "replace")


def _texts(message: Message, place: str) -> Iterator[tuple[str, str]]:
    for field, value in message.ListFields():
        many = value if field.is_repeated else (value,)
        for item in many:
            inner = f"{place}.{field.name}" if place else field.name
            if isinstance(item, Message):
                yield from _texts(item, f"{inner}{_name(item)}")
            elif isinstance(item, str | bytes):
                text = item if isinstance(item, str) else item.decode("utf-8", "replace")
                yield _short(inner), text


def _name(item: Any) -> str:
    """Return what tells an item of a list from the others: a key, or the first word of a name."""
    if isinstance(item, Span):
        return f"[{item.name.partition(' ')[0]}]"
    name = getattr(item, "key", "") or getattr(item, "name", "")
    return f"[{name}]" if name else ""


def _short(place: str) -> str:
    return _AROUND.sub("", place).removesuffix(".value.string_value")

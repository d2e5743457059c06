"""Spans as bytes of OTLP protobuf, each span once.

A batch is the concatenation of its spans, so that it can be cut by bytes, halved and sent again
without encoding anything anew. Encoding is most of what exporting costs, and building messages of
a protobuf library first takes several times as long as writing the bytes.

https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext

from loopspan.telemetry.record import copied

_HAS_IS_REMOTE, _IS_REMOTE = 0x100, 0x200
_SMALL = tuple(bytes([number]) for number in range(128))


@dataclass(frozen=True, slots=True)
class Encoded:
    """A span and its bytes."""

    span: ReadableSpan
    data: bytes


def encoded(span: ReadableSpan) -> Encoded:
    """Encode a span."""
    return Encoded(span, _span(span))


def request(batch: Iterable[Encoded]) -> bytes:
    """Return an `ExportTraceServiceRequest` of these spans, grouped by resource and scope."""
    groups: dict[Resource, dict[InstrumentationScope | None, list[bytes]]] = {}
    for each in batch:
        span = each.span
        scopes = groups.setdefault(span.resource, {})
        scopes.setdefault(span.instrumentation_scope, []).append(each.data)
    return b"".join(_resource_spans(*each) for each in groups.items())


def _resource_spans(
    resource: Resource, scopes: Mapping[InstrumentationScope | None, Sequence[bytes]]
) -> bytes:
    parts = [_resource(resource), *(_scope_spans(*each) for each in scopes.items())]
    if resource.schema_url:
        parts.append(_text(0x1A, resource.schema_url))
    return _field(0x0A, b"".join(parts))


def _resource(resource: Resource) -> bytes:
    return _field(0x0A, _attributes(0x0A, resource.attributes))


def _scope_spans(scope: InstrumentationScope | None, spans: Sequence[bytes]) -> bytes:
    parts = [_field(0x0A, _scope(scope)), *(_field(0x12, span) for span in spans)]
    if scope is not None and scope.schema_url:
        parts.append(_text(0x1A, scope.schema_url))
    return _field(0x12, b"".join(parts))


def _scope(scope: InstrumentationScope | None) -> bytes:
    if scope is None:
        return b""
    parts = [_text(0x0A, scope.name)]
    if scope.version:
        parts.append(_text(0x12, scope.version))
    parts.append(_attributes(0x1A, scope.attributes or {}))
    return b"".join(parts)


def _span(span: ReadableSpan) -> bytes:
    context = span.get_span_context()
    if context is None:
        raise ValueError("a span without ids cannot be exported")
    parts = [_ids(context)]
    if context.trace_state:
        parts.append(_text(0x1A, context.trace_state.to_header()))
    if span.parent is not None:
        parts.append(b"\x22\x08" + span.parent.span_id.to_bytes(8, "big"))
    parts += (
        _text(0x2A, span.name),
        b"\x30" + _SMALL[span.kind.value + 1],
        b"\x39" + struct.pack("<Q", span.start_time or 0),
        b"\x41" + struct.pack("<Q", span.end_time or 0),
        _attributes(0x4A, copied(span.attributes)),
        _count(b"\x50", span.dropped_attributes),
        *(_field(0x5A, _event(event)) for event in span.events),
        _count(b"\x60", span.dropped_events),
        *(_field(0x6A, _link(link)) for link in span.links),
        _count(b"\x70", span.dropped_links),
        _field(0x7A, _status(span)),
        b"\x85\x01" + _flags(span.parent),
    )
    return b"".join(parts)


def _ids(context: SpanContext) -> bytes:
    trace_id, span_id = context.trace_id.to_bytes(16, "big"), context.span_id.to_bytes(8, "big")
    return b"\x0a\x10" + trace_id + b"\x12\x08" + span_id


def _event(event: Event) -> bytes:
    return (
        b"\x09"
        + struct.pack("<Q", event.timestamp)
        + _text(0x12, event.name)
        + _attributes(0x1A, copied(event.attributes))
        + _count(b"\x20", event.dropped_attributes)
    )


def _link(link: Link) -> bytes:
    return (
        _ids(link.context)
        + _attributes(0x22, copied(link.attributes))
        + _count(b"\x28", link.dropped_attributes)
        + b"\x35"
        + _flags(link.context)
    )


def _status(span: ReadableSpan) -> bytes:
    said, code = span.status.description, span.status.status_code.value
    return (_text(0x12, said) if said else b"") + (b"\x18" + _SMALL[code] if code else b"")


def _flags(context: SpanContext | None) -> bytes:
    remote = _IS_REMOTE if context is not None and context.is_remote else 0
    return struct.pack("<I", _HAS_IS_REMOTE | remote)


def _attributes(tag: int, attributes: Mapping[str, Any]) -> bytes:
    parts: list[bytes] = []
    start = _SMALL[tag]
    for key, value in attributes.items():
        name, told = _key(key), _value(value)
        size = len(told)
        length = _SMALL[size] if size < 128 else _varint(size)
        parts += (start, _varint(len(name) + 1 + len(length) + size), name, b"\x12", length, told)
    return b"".join(parts)


@lru_cache(maxsize=4096)
def _key(key: str) -> bytes:
    return _text(0x0A, key)


def _value(value: Any) -> bytes:
    kind = type(value)
    if kind is str:
        return _text(0x0A, value)
    if kind is int and -(2**63) <= value < 2**63:
        return b"\x18" + _varint(value & 0xFFFFFFFFFFFFFFFF)
    if kind is bool:
        return b"\x10\x01" if value else b"\x10\x00"
    return _other(value)


def _other(value: Any) -> bytes:
    match value:
        case float():
            return b"\x21" + struct.pack("<d", value)
        case list() | tuple():
            return _field(0x2A, b"".join(_field(0x0A, _value(item)) for item in value))
        case bytes():
            return _field(0x3A, value)
        case Mapping():
            pairs = {str(key): item for key, item in value.items()}
            return _field(0x32, _attributes(0x0A, pairs))
        case None:
            return b""
        case _:  # an integer of more than 64 bits, or whatever an instrumentation wrote
            return _text(0x0A, str(value))


def _text(tag: int, text: str) -> bytes:
    return _field(tag, text.encode("utf-8", "replace"))


def _field(tag: int, data: bytes) -> bytes:
    """Return a field that says its length; `tag` is its number and type, below 128."""
    size = len(data)
    return _SMALL[tag] + (_SMALL[size] if size < 128 else _varint(size)) + data


def _count(tag: bytes, number: int) -> bytes:
    return tag + _varint(number) if number else b""


def _varint(number: int) -> bytes:
    if number < 128:
        return _SMALL[number]
    if number < 16384:
        return bytes((number & 0x7F | 0x80, number >> 7))
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)

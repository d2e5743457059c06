"""Where the content of an outgoing span goes: its attributes, an event, or a store beside it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from opentelemetry.sdk.trace import Event, ReadableSpan

from loopspan.telemetry import semconv as names
from loopspan.telemetry.outgoing import CONTENT_EVENTS, Outgoing, reduced
from loopspan.telemetry.store import ContentStore

logger = logging.getLogger("loopspan.telemetry")

Place: TypeAlias = Literal["attributes", "event"] | ContentStore
"""`attributes` of the span, an `event` of it, or a store."""


def placed(span: ReadableSpan, out: Outgoing, place: Place) -> Outgoing:
    """Return the span with its content in that place; the same one where it has none."""
    if place == "attributes":
        return out
    content = {k: v for k, v in out.attributes.items() if k in names.CONTENT_ATTRIBUTES}
    if place == "event":
        return _in_event(span, out, content) if content else out
    told = any(event.name in CONTENT_EVENTS for event in out.events)
    return _in_store(span, out, content, place) if content or told or out.description else out


def _in_event(span: ReadableSpan, out: Outgoing, content: Mapping[str, Any]) -> Outgoing:
    """The conventions have an event for the content of a model's call; others have ours."""
    is_chat = out.attributes.get(names.OPERATION_NAME) == names.CHAT
    name = names.DETAILS_EVENT if is_chat else names.CONTENT_EVENT
    kept = {k: v for k, v in out.attributes.items() if k not in content}
    event = Event(name, content, span.end_time or span.start_time)
    return replace(out, attributes=kept, events=[*out.events, event])


def _in_store(
    span: ReadableSpan, out: Outgoing, content: Mapping[str, Any], store: ContentStore
) -> Outgoing:
    """What cannot be stored leaves the process nowhere."""
    bare = reduced(out, "off")
    attributes = dict(bare.attributes)
    context = span.get_span_context()
    if context is None:
        return bare
    key = f"{context.trace_id:032x}-{context.span_id:016x}"
    events = [
        {"name": e.name, "at": e.timestamp, "attributes": dict(e.attributes or {})}
        for e in out.events
        if e.name in CONTENT_EVENTS
    ]
    stored = {"attributes": dict(content), "events": events, "description": out.description}
    try:
        store.put(key, stored)
    except Exception as error:  # noqa: BLE001  # whatever a store raises
        logger.warning("the content of a span could not be stored: %s", type(error).__name__)
        return bare
    if names.CONTENT in out.attributes:
        attributes[names.CONTENT] = out.attributes[names.CONTENT]
    attributes[names.CONTENT_KEY] = key
    return replace(bare, attributes=attributes)

"""A step with everything that its span says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loopspan.jsontext import dump_text
from loopspan.playground.bodies import JSON, TEXT, Bodies, Shape
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

INLINE = 2_000
"""The most characters of a value that stands in the answer itself; longer ones are references."""

_WRITTEN = names.CONTENT_ATTRIBUTES | {
    names.EXCEPTION_MESSAGE,
    names.EXCEPTION_STACKTRACE,
    names.RAW_BODY,
    names.REQUEST_STOP_SEQUENCES,
}
_OURS = (
    frozenset(v for k, v in vars(names).items() if k.isupper() and isinstance(v, str)) - _WRITTEN
)
"""The attributes whose texts are ours or the conventions'; a text under another name may be any."""


def detail(span: SpanRecord | None, bodies: Bodies, *, content: bool) -> Shape:
    """Return the attributes, events and links of a span; hidden values are `None`."""
    if span is None:
        why = [{"field": "attributes", "why": "not_recorded"}]
        return {"name": None, "attributes": {}, "events": [], "links": [], "hidden": why}
    hidden: list[Shape] = []
    attributes = _told(span.attributes, bodies, content, hidden)
    events = [
        {
            "name": event.name,
            "at": str(event.at),
            "attributes": _told(event.attributes, bodies, content, hidden),
        }
        for event in span.events
    ]
    return {
        "name": span.name,
        "trace_id": span.trace_id,
        "parent_span_id": span.parent_id,
        "status": span.status,
        "attributes": attributes,
        "events": events,
        "links": [],
        "hidden": hidden,
    }


def span_of(spans: Iterable[SpanRecord], span_id: str | None) -> SpanRecord | None:
    """Return the span of this id; without one, that of the run."""
    if span_id is not None:
        return next((span for span in spans if span.span_id == span_id), None)
    agents = (s for s in spans if s.attributes.get(names.OPERATION_NAME) == names.INVOKE_AGENT)
    return next(agents, None)


def _told(
    attributes: Mapping[str, Any], bodies: Bodies, content: bool, hidden: list[Shape]
) -> Shape:
    shown: Shape = {}
    for name, value in attributes.items():
        if content or _is_plain(name, value):
            shown[name] = _value(value, bodies)
        else:
            shown[name] = None
            hidden.append({"field": f"attributes.{name}", "why": "not_permitted"})
    return shown


def _is_plain(name: str, value: Any) -> bool:
    return isinstance(value, bool | int | float) or name in _OURS


def _value(value: Any, bodies: Bodies) -> Any:
    """Return a value, or the reference to one that is long."""
    if isinstance(value, str):
        kind = JSON if value[:1] in ("{", "[") else TEXT
        return value if len(value) <= INLINE else bodies.text(value, kind)
    if isinstance(value, list | tuple | dict):
        text = dump_text(value)
        return value if len(text) <= INLINE else bodies.text(text, JSON)
    return value

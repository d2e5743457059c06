"""A span on its way out: what of it may change, and the three ways in which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Status

from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content, text_metadata
from loopspan.telemetry.cutting import byte_count
from loopspan.telemetry.raw import PART_BYTES, text_parts
from loopspan.telemetry.record import copied
from loopspan.telemetry.redaction import Redaction
from loopspan.telemetry.trimming import MINIMUM, Cuts, fitted, fitted_event, trimmed, truncated_text

MAX_PARTS = 100
"""The most events that a raw body becomes; a longer one is cut."""

STATUS = "otel.status_description"
"""The name of the status description in `loopspan.truncated`."""

_RAW_EVENTS = (names.RAW_REQUEST_EVENT, names.RAW_RESPONSE_EVENT)
CONTENT_EVENTS = frozenset({*_RAW_EVENTS, names.EXCEPTION_EVENT})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a policy may change of a span."""

    name: str
    attributes: Mapping[str, Any]
    events: Sequence[Event]
    description: str | None

    @classmethod
    def of(cls, span: ReadableSpan) -> Outgoing:
        """Return what may change of this span."""
        return cls(span.name, copied(span.attributes), span.events, span.status.description)


class OutgoingSpan(ReadableSpan):
    """A span as it leaves the process; it still says how much the SDK had dropped of it."""

    def __init__(self, whole: ReadableSpan, changed: Outgoing) -> None:
        super().__init__(
            name=changed.name,
            context=whole.get_span_context(),
            parent=whole.parent,
            resource=whole.resource,
            attributes=changed.attributes,
            events=changed.events,
            links=whole.links,
            kind=whole.kind,
            status=Status(whole.status.status_code, changed.description),
            start_time=whole.start_time,
            end_time=whole.end_time,
            instrumentation_scope=whole.instrumentation_scope,
        )
        self._dropped = (whole.dropped_attributes, whole.dropped_events, whole.dropped_links)

    @property
    def dropped_attributes(self) -> int:
        return self._dropped[0]

    @property
    def dropped_events(self) -> int:
        return self._dropped[1]

    @property
    def dropped_links(self) -> int:
        return self._dropped[2]


def reduced(span: Outgoing, content: Content) -> Outgoing:
    """Return the span with as much content as may be told; the same one where it has no more."""
    told = any(event.name in CONTENT_EVENTS for event in span.events)
    bare = names.CONTENT_ATTRIBUTES.isdisjoint(span.attributes)
    if content == "full" or (bare and not told and span.description is None):
        return span
    kept = {k: v for k, v in span.attributes.items() if k not in names.CONTENT_ATTRIBUTES}
    if content == "metadata":
        for name in names.CONTENT_ATTRIBUTES & span.attributes.keys():
            text = text_metadata(name, str(span.attributes[name]))
            if text is not None:
                kept[name] = text
    if names.CONTENT in kept:
        kept[names.CONTENT] = content
    events = [e for e in map(_reduced_event, span.events) if e is not None]
    return replace(span, attributes=kept, events=events, description=None)


def _reduced_event(event: Event) -> Event | None:
    """Return an event without content; raw bodies are nothing else."""
    if event.name not in CONTENT_EVENTS:
        return event
    if event.name != names.EXCEPTION_EVENT:
        return None
    kind = (event.attributes or {}).get(names.EXCEPTION_TYPE)
    return Event(event.name, {} if kind is None else {names.EXCEPTION_TYPE: kind}, event.timestamp)


def redacted(span: Outgoing, redaction: Redaction) -> Outgoing:
    """Return the span with all secrets masked; the same one where there is none."""
    if not redaction.may_match("".join(_texts(span))):
        return span

    attributes = _masked(span.attributes, redaction)
    bodies = {
        name: text_parts(masked, PART_BYTES)
        for name, body in _raw_bodies(span.events).items()
        if (masked := redaction.redact(body)) != body
    }
    events = [_masked_event(event, redaction) for event in _with_bodies(span.events, bodies)]
    description = None if span.description is None else redaction.redact(span.description)
    return _unless_same(
        span, Outgoing(redaction.redact(span.name), attributes, events, description)
    )


def _masked(attributes: Mapping[str, Any], redaction: Redaction) -> Mapping[str, Any]:
    result = {k: _changed(k, v, redaction.redact_field) for k, v in attributes.items()}
    return attributes if result == attributes else result


def _masked_event(event: Event, redaction: Redaction) -> Event:
    given = event.attributes or {}
    attributes = given if event.name in _RAW_EVENTS else _masked(given, redaction)
    return event if attributes is given else Event(event.name, attributes, event.timestamp)


def _unless_same(span: Outgoing, changed: Outgoing) -> Outgoing:
    """Return `span` itself where nothing of it has changed."""
    before, after = span.events, changed.events
    same = (
        changed.name == span.name
        and changed.description == span.description
        and changed.attributes is span.attributes
        and len(before) == len(after)
        and all(a is b for a, b in zip(before, after, strict=True))
    )
    return span if same else changed


def _texts(span: Outgoing) -> list[str]:
    """Return all texts of a span, apart from each other where they have nothing in common."""
    texts = [span.name, "\n", span.description or "", "\n"]
    for name, value in span.attributes.items():
        _add_texts(texts, name, value)
    for event in span.events:
        for name, value in (event.attributes or {}).items():
            if name == names.RAW_BODY:
                texts.append(str(value))  # the next part goes on where this one ends
            else:
                _add_texts(texts, name, value)
    return texts


def _add_texts(texts: list[str], name: str, value: Any) -> None:
    match value:
        case str():
            texts += (name, "=", value, "\n")
        case list() | tuple():
            for item in value:
                _add_texts(texts, name, item)
        case Mapping():
            for key, item in value.items():
                _add_texts(texts, key, item)


def _changed(name: str, value: Any, change: Callable[[str, str], str]) -> Any:
    """Return an attribute's value with its texts changed, the last part of its name told."""
    match value:
        case str():
            return change(name.rpartition(".")[2], value)
        case list() | tuple():
            return type(value)(_changed(name, item, change) for item in value)
        case Mapping():
            return {key: _changed(key, item, change) for key, item in value.items()}
        case _:
            return value


def fitting(span: Outgoing, limit: int) -> Outgoing:
    """Return the span with no text over `limit` bytes; the same one where all fit."""
    cuts: Cuts = {}
    attributes = fitted(span.attributes, limit, cuts)
    events = _fitting_events(span.events, limit, cuts)
    description = span.description
    if description is not None:
        short = trimmed(description, limit)
        description = short.text
        if short.cut is not None:
            cuts[STATUS] = short.cut
    if cuts:
        told = truncated_text(attributes.get(names.TRUNCATED), cuts)
        said = trimmed(told, max(limit, MINIMUM)).text  # what is dropped is said in any case
        attributes = {**attributes, names.TRUNCATED: said}
    return _unless_same(span, Outgoing(span.name, attributes, events, description))


def _fitting_events(events: Sequence[Event], limit: int, cuts: Cuts) -> list[Event]:
    bodies: dict[str, Iterable[dict[str, Any]]] = {}
    for name, body in _raw_bodies(events).items():
        if byte_count(body) > limit:
            short = trimmed(body, limit * MAX_PARTS)
            bodies[name] = text_parts(short.text or "", limit)
            if short.cut is not None:
                cuts[name] = short.cut
    return [_fitting_event(event, limit, cuts) for event in _with_bodies(events, bodies)]


def _fitting_event(event: Event, limit: int, cuts: Cuts) -> Event:
    given = event.attributes or {}
    if event.name in _RAW_EVENTS:
        return event
    attributes = fitted_event(event.name, given, limit, cuts)
    return event if attributes is given else Event(event.name, attributes, event.timestamp)


def _raw_bodies(events: Iterable[Event]) -> dict[str, str]:
    """Return the bodies that events hold in parts, by the events' name."""
    found: dict[str, list[tuple[int, str]]] = {}
    for event in events:
        if event.name in _RAW_EVENTS:
            a = event.attributes or {}
            part, body = a.get(names.RAW_PART), a.get(names.RAW_BODY)
            number = part if isinstance(part, int) else 0
            found.setdefault(event.name, []).append((number, str(body or "")))
    ordered = {name: sorted(parts, key=lambda part: part[0]) for name, parts in found.items()}
    return {name: "".join(text for _, text in parts) for name, parts in ordered.items()}


def _with_bodies(
    events: Iterable[Event], bodies: Mapping[str, Iterable[Mapping[str, Any]]]
) -> Iterator[Event]:
    """Yield the events, the parts of each of these bodies in place of those that held it."""
    done: set[str] = set()
    for event in events:
        if event.name not in bodies:
            yield event
        elif event.name not in done:
            done.add(event.name)
            for part in bodies[event.name]:
                yield Event(event.name, part, event.timestamp)

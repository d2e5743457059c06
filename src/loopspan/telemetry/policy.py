"""What leaves the process: an exporter around an exporter, which lets through what it may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Status

from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content, text_metadata


class PolicyExporter(SpanExporter):
    """Hands spans on to `inner` with content as far as `content` lets it through.

    It works where it is called, on the export thread, and never changes the span that others see.
    """

    def __init__(self, inner: SpanExporter, *, content: Content = "off") -> None:
        self._inner = inner
        self._content = content

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what the policy leaves of these spans."""
        if self._content == "full":
            return self._inner.export(spans)
        return self._inner.export([self._reduced(span) for span in spans])

    def shutdown(self) -> None:
        """Shut down the exporter inside."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush the exporter inside."""
        return self._inner.force_flush(timeout_millis)

    def _reduced(self, span: ReadableSpan) -> ReadableSpan:
        attributes = span.attributes or {}
        told = any(event.name in _CONTENT_EVENTS for event in span.events)
        described = span.status.description is not None
        if not told and not described and names.CONTENT_ATTRIBUTES.isdisjoint(attributes):
            return span
        return ReadableSpan(
            name=span.name,
            context=span.get_span_context(),
            parent=span.parent,
            resource=span.resource,
            attributes=self._kept(attributes),
            events=[e for e in map(_reduced_event, span.events) if e is not None],
            links=span.links,
            kind=span.kind,
            status=Status(span.status.status_code),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _kept(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        kept = {k: v for k, v in attributes.items() if k not in names.CONTENT_ATTRIBUTES}
        if self._content == "metadata":
            for name in names.CONTENT_ATTRIBUTES & attributes.keys():
                text = text_metadata(name, str(attributes[name]))
                if text is not None:
                    kept[name] = text
        if names.CONTENT in kept:
            kept[names.CONTENT] = self._content
        return kept


_CONTENT_EVENTS = frozenset(
    {names.RAW_REQUEST_EVENT, names.RAW_RESPONSE_EVENT, names.EXCEPTION_EVENT}
)


def _reduced_event(event: Event) -> Event | None:
    """Return an event without content; raw bodies are nothing else."""
    if event.name not in _CONTENT_EVENTS:
        return event
    if event.name != names.EXCEPTION_EVENT:
        return None
    kind = (event.attributes or {}).get(names.EXCEPTION_TYPE)
    return Event(event.name, {} if kind is None else {names.EXCEPTION_TYPE: kind}, event.timestamp)

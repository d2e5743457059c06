"""What leaves the process: an exporter around an exporter, which lets through what it may."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from loopspan.errors import ConfigurationError
from loopspan.telemetry import spans as span_layer
from loopspan.telemetry.content import Content, content_mode
from loopspan.telemetry.outgoing import Outgoing, OutgoingSpan, fitting, redacted, reduced
from loopspan.telemetry.placing import Place, placed
from loopspan.telemetry.redaction import Redaction

logger = logging.getLogger("loopspan.telemetry")


class PolicyExporter(SpanExporter):
    """Hands spans on to `inner` as far as the policy of this sink lets them through.

    `content` is what they may carry, `redact` masks secrets in all texts, `max_attribute_bytes`
    is the most that a text may have: longer ones are cut inside their structure, and
    `loopspan.truncated` says so. The three are applied in this order, to span and event
    attributes, raw bodies, exceptions and status descriptions. `place` is where the content then
    goes: `attributes`, an `event` of the span, or a `ContentStore` beside the backend. It works
    where it is called, on the export thread, and never changes the span that others see.
    """

    def __init__(
        self,
        inner: SpanExporter,
        *,
        content: Content = "off",
        max_attribute_bytes: int | None = None,
        redact: Redaction | None = None,
        place: Place = "attributes",
    ) -> None:
        """Raises `ConfigurationError` for an unknown `content` and a limit below 1."""
        if max_attribute_bytes is not None and max_attribute_bytes < 1:
            raise ConfigurationError(
                f"max_attribute_bytes is {max_attribute_bytes!r}; give 1 or more, or None for none"
            )
        self.inner = inner
        self._content = content_mode(content)
        self._limit = max_attribute_bytes
        self._redact = redact
        self._place = place

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what the policy leaves of these spans."""
        return self.inner.export([self._guarded(span) for span in spans])

    def shutdown(self) -> None:
        """Shut down the exporter inside."""
        self.inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush the exporter inside."""
        return self.inner.force_flush(timeout_millis)

    def _guarded(self, span: ReadableSpan) -> ReadableSpan:
        try:
            return self._outgoing(span)
        except Exception as error:
            if span_layer.strict:
                raise
            # What the error says may be what must not be told.
            logger.warning(
                "a span is exported without its texts: the policy failed with %s",
                type(error).__name__,
            )
            kept = {k: v for k, v in (span.attributes or {}).items() if isinstance(v, int | float)}
            return OutgoingSpan(span, Outgoing("withheld", kept, (), None))

    def _outgoing(self, span: ReadableSpan) -> ReadableSpan:
        whole = Outgoing.of(span)
        left = reduced(whole, self._content)
        if self._redact is not None:
            left = redacted(left, self._redact)
        if self._limit is not None:
            left = fitting(left, self._limit)
        left = placed(span, left, self._place)
        return span if left is whole else OutgoingSpan(span, left)

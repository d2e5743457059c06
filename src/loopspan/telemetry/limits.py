"""The length at which the SDK cuts texts, so that content is cut before, inside its structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.trace import SpanLimits
from opentelemetry.trace import Tracer

from loopspan.environment import attribute_limit, event_attribute_limit
from loopspan.telemetry import semconv as names
from loopspan.telemetry.trimming import Cuts, fitted, fitted_event, trimmed, truncated_text

_STRUCTURED = names.CONTENT_ATTRIBUTES | {names.PROMPT_PARTS}


@dataclass(frozen=True, slots=True)
class TextLimits:
    """The most characters of a text on a span and on its events; `None` is no limit."""

    span: int | None = None
    event: int | None = None

    def attributes(self, attributes: dict[str, Any], cuts: Cuts) -> dict[str, Any]:
        """Return the attributes of a span, content within the limit, and what was cut so far."""
        limit = self.span
        if limit is None:
            return attributes
        result = dict(fitted(attributes, limit, cuts, _long(attributes, limit) & _STRUCTURED))
        if cuts:
            told = trimmed(truncated_text(attributes.get(names.TRUNCATED), cuts), limit).text
            result |= {} if told is None else {names.TRUNCATED: told}
        return result

    def event_attributes(self, name: str, attributes: dict[str, Any], cuts: Cuts) -> dict[str, Any]:
        """Return the attributes of an event, all texts within the limit."""
        limit = self.event
        if limit is None:
            return attributes
        return dict(fitted_event(name, attributes, limit, cuts, _long(attributes, limit)))


def text_limits(tracer: Tracer) -> TextLimits:
    """Return the limits of a tracer: those of its provider, else those of the environment."""
    # The SDK does not say them in public; a provider may have others than the environment.
    own = getattr(tracer, "_span_limits", None)
    if isinstance(own, SpanLimits):
        return TextLimits(own.max_span_attribute_length, own.max_attribute_length)
    return TextLimits(attribute_limit(), event_attribute_limit())


def _long(attributes: Mapping[str, Any], limit: int) -> set[str]:
    """Return the names of the texts that have more characters, as the SDK counts them."""
    return {k for k, v in attributes.items() if isinstance(v, str) and len(v) > limit}

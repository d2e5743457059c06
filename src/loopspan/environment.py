"""The environment variables that loopspan reads itself; `docs/environment.md` lists them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from opentelemetry.sdk.environment_variables import (
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT,
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT,
)

from loopspan.telemetry.content import Content, content_mode

CAPTURE_CONTENT = "LOOPSPAN_CONTENT"
STANDARD_CAPTURE_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_STANDARD: Mapping[str, Content] = {
    "no_content": "off",
    "span_only": "full",
    "event_only": "off",
    "span_and_event": "full",
    "true": "full",
    "false": "off",
}


COMPAT = "LOOPSPAN_COMPAT"


def variable(name: str) -> str | None:
    """Return the value of an environment variable, `None` where it is unset or empty."""
    return os.environ.get(name) or None


def compat() -> bool:
    """Return whether the environment asks for older attribute names too."""
    return (variable(COMPAT) or "").lower() in ("1", "true", "yes")


def attribute_limit() -> int | None:
    """Return the length at which the SDK cuts the texts of span attributes, by its variables."""
    own = os.environ.get(OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT)
    return event_attribute_limit() if own is None else _length(own)


def event_attribute_limit() -> int | None:
    """Return the length at which the SDK cuts the texts of event attributes."""
    return _length(os.environ.get(OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, ""))


def _length(value: str) -> int | None:
    value = value.strip()
    return int(value) if value.isdecimal() else None  # the SDK complains of anything else


def capture_content() -> Content | None:
    """Return what spans may carry by the environment; ours wins over the standard variable."""
    own = variable(CAPTURE_CONTENT)
    if own is not None:
        return content_mode(own.lower())
    standard = variable(STANDARD_CAPTURE_CONTENT)
    return None if standard is None else _STANDARD.get(standard.lower(), "off")

"""The environment variables that loopspan reads itself; `docs/environment.md` lists them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import unquote

from opentelemetry.sdk.environment_variables import (
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT,
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT,
)

from loopspan.errors import ConfigurationError
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


def headers(name: str) -> dict[str, str]:
    """Return the headers of a variable in the form of `OTEL_EXPORTER_OTLP_HEADERS`.

    It is `name=value,name=value`, values URL-encoded. Raises `ConfigurationError`, which repeats no
    value: it may be a key.
    """
    found = {}
    for each in filter(None, map(str.strip, (variable(name) or "").split(","))):
        key, equals, value = each.partition("=")
        if not key.strip() or not equals:
            raise ConfigurationError(f"{name} is not of the form name=value,name=value; correct it")
        found[key.strip()] = unquote(value.strip())
    return found


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

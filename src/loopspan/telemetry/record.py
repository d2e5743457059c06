"""A span as plain data, wherever it comes from: our own, the SDK's, a backend's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

SpanState: TypeAlias = Literal["unset", "ok", "error"]


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """A span event; `at` is in Unix nanoseconds."""

    name: str
    at: int
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """A span as plain data; ids in hex, times in Unix nanoseconds, `ended_at` `None` while open."""

    name: str
    trace_id: str | None
    span_id: str | None
    parent_id: str | None
    started_at: int
    ended_at: int | None
    attributes: Mapping[str, Any]
    events: tuple[SpanEvent, ...] = ()
    status: SpanState = "unset"
    status_message: str | None = None


def copied(attributes: Any) -> dict[str, Any]:
    """Return attributes of the SDK, a mapping or `None`, as a dictionary of their own."""
    if not attributes:
        return {}
    # The SDK's own mapping copies itself at once, and gives each item under a lock.
    try:
        own = attributes.copy()
    except AttributeError:
        own = None
    return own if isinstance(own, dict) else dict(attributes)

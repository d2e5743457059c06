"""PromQL over loopspan's metrics, by their OpenTelemetry names.

Everything is counted as a difference of two samples, not by `rate` or `increase`: these guess at
the edges, and do not see a series that begins with its first event, as that of a rare error does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from opentelemetry.metrics import Counter, Histogram, NoOpMeter

from loopspan.telemetry import semconv as names
from loopspan.telemetry.metrics import Instruments

RANGE = "$__range"
STEP = "$__interval"


class _Names(NoOpMeter):
    """Keeps under which name Prometheus has each instrument."""

    def __init__(self) -> None:
        super().__init__("loopspan")
        self.found: dict[str, str] = {}

    def create_counter(self, name: str, unit: str = "", description: str = "") -> Counter:
        self.found[name] = f"{_translated(name, unit)}_total"
        return super().create_counter(name, unit, description)

    def create_histogram(
        self,
        name: str,
        unit: str = "",
        description: str = "",
        *,
        explicit_bucket_boundaries_advisory: Sequence[float] | None = None,
    ) -> Histogram:
        self.found[name] = _translated(name, unit)
        return super().create_histogram(name, unit, description)


def _translated(name: str, unit: str) -> str:
    """Return the name that Prometheus gives a metric; units in braces are none to it."""
    return label(name) + ("_seconds" if unit == "s" else "")


def label(name: str) -> str:
    """Return the label that Prometheus makes of an attribute."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _prometheus_names() -> dict[str, str]:
    meter = _Names()
    Instruments(meter)
    dropped = (names.RECORDER_DROPPED, names.EXPORT_DROPPED)
    return meter.found | {name: f"{label(name)}_total" for name in dropped}


METRICS = _prometheus_names()
"""The Prometheus name of each metric; a histogram's is that of its three series, without suffix."""


def series(metric: str, suffix: str = "", where: str = "", every: str = "") -> str:
    """Return a selector; `every` is the one that all panels share, `where` this one's own."""
    conditions = ", ".join(filter(None, (every, where)))
    return f"{METRICS[metric]}{suffix}{{{conditions}}}" if conditions else METRICS[metric] + suffix


def grown(selector: str, window: str) -> str:
    """Return by how much a counter has grown in the window, exactly.

    One that began in it counts from zero, and one that was reset counts from then.
    """
    last = f"last_over_time({selector}[{window}])"
    before = f"({selector} offset {window} or {last} * 0)"
    return f"({last} - {before} >= 0 or {last})"


def summed(selector: str, window: str, by: Sequence[str] = ()) -> str:
    """Return the growth of all series of a counter together, or by these attributes."""
    return f"sum{_by(by)}({grown(selector, window)})"


def zero_if_none(query: str) -> str:
    """Return zero where there is no series: what never happened."""
    return f"({query} or vector(0))"


def ratio(part: str, whole: str) -> str:
    """Return a part of a whole; nothing while the whole is nothing."""
    return f"{part} / ({whole} > 0)"


def quantile(q: float, selector: str, window: str, by: Sequence[str] = ()) -> str:
    """Return a quantile from a histogram's buckets; nothing while nothing happened."""
    return f"histogram_quantile({q}, {summed(selector, window, ('le', *by))}) >= 0"


def _by(attributes: Any) -> str:
    return f" by ({', '.join(map(label, attributes))}) " if attributes else ""

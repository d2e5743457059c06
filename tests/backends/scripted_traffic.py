"""Runs of known numbers, for questions to real backends: what they sum up to is on their spans."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from loopspan import Configuration, ProviderError, ToolLoop, tool
from loopspan.loop.exchange import RetryPolicy
from loopspan.telemetry import semconv as names
from loopspan.testing import ScriptedModel, message

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "prompt_tokens_details": {"cached_tokens": 400, "cache_write_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 30},
    "cost": 0.75,
}
SMALL = {"prompt_tokens": 7, "completion_tokens": 3}


@tool
def look() -> str:
    """Look."""
    return "nothing yet"


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("no")


def make_runs(tracer_provider: TracerProvider, meter_provider: MeterProvider) -> None:
    """Make 19 runs and a dry one: each way to end, each kind of figure, each alert."""
    asked: list[tuple[Any, ...]] = [("fail", {}), ("look", {}), ("imagine", {})]

    def loop(name: str, *answers: Any, model: str = "scripted-1", cut: bool = False) -> ToolLoop:
        scripted = ScriptedModel(list(answers), name=model)
        return ToolLoop(
            scripted.model,
            [look, fail],
            configuration=Configuration(name=name, max_rounds=1 if cut else 5),
            tracer_provider=tracer_provider,
            meter_provider=meter_provider,
            content="full",
            retry=RetryPolicy(attempts=2, base_delay=0),
            client=scripted.client,
        )

    look_first = message(tool_calls=[("look", {})], usage=USAGE)
    for _ in range(10):
        loop("shop", look_first, message("Done.", usage=USAGE)).run("Go on.")
    for _ in range(4):
        loop("shop", look_first, message("Enough.", usage=USAGE), cut=True).run("Go on.")
    for _ in range(2):
        try:
            loop("shop", *[httpx.ConnectError("away")] * 2).run("Go on.")
        except ProviderError:
            continue
        raise AssertionError("a model that is away has answered")
    failing = message(tool_calls=asked * 5, usage=SMALL)
    long = message("And so on", finish_reason="length", usage=SMALL)
    for _ in range(2):
        loop("scout", failing, long, model="scripted-2").run("Go on.")
    with loop("scout", message("Streamed.", usage=USAGE)).stream("Go on.") as stream:
        stream.drain()
    loop("shop").run("Go on.", dry_run=True)


Labels: TypeAlias = frozenset[tuple[str, str]]
Weight: TypeAlias = Callable[[ReadableSpan], float | None]


def told(span: ReadableSpan, name: str) -> Any:
    """An attribute of a span, `None` where it has none."""
    return (span.attributes or {}).get(name)


def seconds(span: ReadableSpan) -> float:
    """How long a span took."""
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


def one(span: ReadableSpan) -> float:
    """The weight of a span that is counted."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of one operation, and what they sum up to."""

    spans: Sequence[ReadableSpan]

    @classmethod
    def of(cls, spans: Iterable[ReadableSpan], operation: str) -> "Spans":
        """Those of an operation; dry runs are none."""
        return cls(
            [
                span
                for span in spans
                if told(span, names.OPERATION_NAME) == operation
                and told(span, names.OUTCOME) != "dry_run"
            ]
        )

    def where(self, holds: Callable[[ReadableSpan], bool]) -> "Spans":
        """Those for which something holds."""
        return Spans([span for span in self.spans if holds(span)])

    def groups(self, by: Sequence[Callable[[ReadableSpan], tuple[str, str | None]]]) -> Any:
        """The spans by labels."""
        found: dict[Labels, list[ReadableSpan]] = {}
        for span in self.spans:
            labels = [each(span) for each in by]
            key = frozenset((name, value) for name, value in labels if value is not None)
            found.setdefault(key, []).append(span)
        return found

    def total(self, weight: Weight = one, *by: Any) -> dict[Labels, float]:
        """The sum of a weight by labels; a group in which nothing has one is not there."""
        sums: dict[Labels, float] = {}
        for key, spans in self.groups(by).items():
            weights = [w for span in spans if (w := weight(span)) is not None]
            if weights:
                sums[key] = sum(weights)
        return sums

    def quantile(self, q: float, bounds: Sequence[float], value: Weight, *by: Any) -> Any:
        """The quantile that a histogram with these bounds gives, by labels."""
        found: dict[Labels, float] = {}
        for key, spans in self.groups(by).items():
            values = [v for span in spans if (v := value(span)) is not None]
            if values:
                found[key] = histogram_quantile(q, bounds, values)
        return found


def histogram_quantile(q: float, bounds: Sequence[float], values: Sequence[float]) -> float:
    """Prometheus' estimate: linear inside the bucket in which the value of that rank lies."""
    below = [sum(value <= bound for value in values) for bound in bounds]
    rank = q * len(values)
    for i, (bound, count) in enumerate(zip(bounds, below, strict=True)):
        if count >= rank:
            start, before = (bounds[i - 1], below[i - 1]) if i else (0.0, 0)
            return start + (bound - start) * (rank - before) / (count - before)
    return bounds[-1]


def ratio(part: Mapping[Labels, float], whole: Mapping[Labels, float]) -> dict[Labels, float]:
    """A part of a whole by labels, where there is both."""
    return {key: part[key] / whole[key] for key in part if whole.get(key)}

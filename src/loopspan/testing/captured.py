"""Spans that are kept, and a `RunTrace` of the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from loopspan.runs import RunTrace
from loopspan.telemetry import spans as span_layer


@dataclass
class Captured:
    """What `capture()` saw: `spans` in the order of their end, and a `RunTrace` of the same."""

    provider: TracerProvider
    spans: list[ReadableSpan]
    run_trace: RunTrace


class _Collector(SpanProcessor):
    def __init__(self, spans: list[ReadableSpan]) -> None:
        self._spans = spans

    def on_end(self, span: ReadableSpan) -> None:
        self._spans.append(span)


@contextmanager
def capture() -> Iterator[Captured]:
    """Give a tracer provider whose spans are kept; failures of telemetry are raised meanwhile."""
    spans: list[ReadableSpan] = []
    run_trace = RunTrace()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(_Collector(spans))
    provider.add_span_processor(run_trace)
    before, span_layer.strict = span_layer.strict, True
    try:
        yield Captured(provider, spans, run_trace)
    finally:
        span_layer.strict = before
        provider.shutdown()

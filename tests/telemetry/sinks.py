"""Spans as they are and as they leave the process through a policy."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from loopspan import (
    PolicyExporter,
    RunResult,
    ToolOptions,
    system,
    tool,
    user,
)
from loopspan.runs import Run, read_runs
from loopspan.runs.otlp import spans as otlp_spans
from loopspan.telemetry import semconv as names
from loopspan.telemetry.redaction import DEFAULT_REDACTION
from loopspan.testing import Captured, ScriptedModel, calls, message
from tests.loop.ways import loop_of

KEY = "sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6"
MARK = "[redacted: api_key]"


@dataclass
class Sink(SpanExporter):
    """An exporter that keeps what it gets."""

    got: list[ReadableSpan] = field(default_factory=list)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.got += spans
        return SpanExportResult.SUCCESS


def through(
    policy: Callable[[SpanExporter], SpanExporter], record: Callable[[Any], object]
) -> tuple[ReadableSpan, ReadableSpan]:
    """A span that `record` has filled: as others see it, and as it leaves the process."""
    whole, sink = Sink(), Sink()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(policy(sink)))
    provider.add_span_processor(SimpleSpanProcessor(whole))
    with provider.get_tracer("test").start_as_current_span("work") as span:
        record(span)
    [before], [after] = whole.got, sink.got
    return before, after


def recorded(attributes: dict[str, Any], span: Any) -> None:
    span.set_attributes(attributes)


def everything(sink: SpanExporter) -> PolicyExporter:
    return PolicyExporter(sink, content="full")


def limited(limit: int) -> Callable[[SpanExporter], PolicyExporter]:
    return lambda sink: PolicyExporter(sink, content="full", max_attribute_bytes=limit)


def masking(sink: SpanExporter) -> PolicyExporter:
    return PolicyExporter(sink, content="full", redact=DEFAULT_REDACTION)


def text_of(span: ReadableSpan, name: str) -> str:
    value = (span.attributes or {})[name]
    assert isinstance(value, str)
    return value


def size(text: str) -> int:
    return len(text.encode())


def cuts_of(span: ReadableSpan) -> dict[str, Any]:
    cuts: dict[str, Any] = json.loads(text_of(span, names.TRUNCATED))
    return cuts


@tool
def read() -> str:
    """Read much."""
    return "r" * 60_000


def traced(captured: Captured, prompt: str = "Please.", **options: Any) -> RunResult:
    model = ScriptedModel([calls("read", id="call_1"), message("It says " + "a" * 5000)])
    loop = loop_of(model, [read], captured, content="full")
    return loop.run((system("Be kind."), user(prompt)), options=ToolOptions(**options))


def exported(captured: Captured, **policy: Any) -> list[ReadableSpan]:
    sink = Sink()
    PolicyExporter(sink, **policy).export(captured.spans)
    return sink.got


def read_back(spans: Sequence[ReadableSpan]) -> Run:
    [run] = read_runs(otlp_spans(MessageToDict(encode_spans(spans))))
    return run


def bodies(span: ReadableSpan, name: str) -> list[str]:
    return [str((e.attributes or {})[names.RAW_BODY]) for e in span.events if e.name == name]

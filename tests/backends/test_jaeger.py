"""Spans of the SDK arrive in a real Jaeger unchanged, over both OTLP transports."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context

from tests.backends.jaeger_server import Jaeger

pytestmark = pytest.mark.backends

# The SDK's span kinds begin at INTERNAL, those of OTLP one before, at UNSPECIFIED.
OTLP_KINDS = {kind: kind.value + 1 for kind in SpanKind}


def over_http(jaeger: Jaeger) -> SpanExporter:
    return HttpExporter(endpoint=f"{jaeger.otlp_http}/v1/traces")


def over_grpc(jaeger: Jaeger) -> SpanExporter:
    return GrpcExporter(endpoint=jaeger.otlp_grpc, insecure=True)


@pytest.mark.parametrize("exporter", [over_http, over_grpc])
def test_spans_arrive_unchanged(jaeger: Jaeger, exporter: Callable[[Jaeger], SpanExporter]) -> None:
    sent = send_run(exporter(jaeger))

    received = jaeger.trace(trace_id_of(sent), spans=len(sent))

    assert by_id(map(from_otlp, received)) == by_id(map(from_sdk, sent))


@pytest.mark.parametrize("exporter", [over_http, over_grpc])
def test_large_span_arrives_whole(
    jaeger: Jaeger, exporter: Callable[[Jaeger], SpanExporter]
) -> None:
    """Both the default of gRPC, 4 MiB, and that of the HTTP receiver, 20 MiB, would refuse it."""
    content = "x" * (24 * 1024 * 1024)
    sent = send_content(exporter(jaeger), content)

    (received,) = jaeger.trace(trace_id_of(sent), spans=1)

    assert len(from_otlp(received)["attributes"]["content"][1]) == len(content)


def test_too_few_spans_is_an_error(jaeger: Jaeger) -> None:
    with pytest.raises(TimeoutError, match=r"0 of 1 spans of trace 0{31}1"):
        jaeger.trace("1".zfill(32), spans=1, timeout=0)


def send_run(exporter: SpanExporter) -> Sequence[ReadableSpan]:
    """Send one parent with two children, and return them as the SDK has ended them."""
    memory = InMemorySpanExporter()
    provider = provider_to(exporter, memory)
    tracer = provider.get_tracer("smoke", "1.0")
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Grüße 👋"}]}])

    parent = tracer.start_span("invoke_agent", attributes={"loops": 2, "cost": 0.25})
    within = set_span_in_context(parent)
    chat = tracer.start_span(
        "chat",
        within,
        kind=SpanKind.CLIENT,
        attributes={
            "messages": messages,
            "tokens": 2**53 + 1,
            "temperature": 2.0,
            "streamed": True,
            "finish_reasons": ["stop", "tool_calls"],
        },
    )
    chat.add_event("first chunk", {"index": 0})
    chat.set_status(StatusCode.OK)
    chat.end()
    tool = tracer.start_span("execute_tool", within, kind=SpanKind.INTERNAL)
    tool.set_status(StatusCode.ERROR, "no such city")
    tool.end()
    parent.end()

    provider.shutdown()
    return memory.get_finished_spans()


def send_content(exporter: SpanExporter, content: str) -> Sequence[ReadableSpan]:
    memory = InMemorySpanExporter()
    provider = provider_to(exporter, memory)
    provider.get_tracer("smoke").start_span("chat", attributes={"content": content}).end()
    provider.shutdown()
    return memory.get_finished_spans()


def provider_to(exporter: SpanExporter, memory: SpanExporter) -> TracerProvider:
    provider = TracerProvider(
        resource=Resource.create({"service.name": "smoke"}), shutdown_on_exit=False
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def trace_id_of(spans: Sequence[ReadableSpan]) -> str:
    (trace_id,) = {from_sdk(span)["trace_id"] for span in spans}
    assert isinstance(trace_id, str)
    return trace_id


Shape = dict[str, Any]
"""A span as plain values, the same whether it comes from the SDK or from Jaeger."""


def by_id(spans: Iterable[Shape]) -> dict[str, Shape]:
    return {span["span_id"]: span for span in spans}


def from_sdk(span: ReadableSpan) -> Shape:
    context = span.context
    assert context is not None
    return {
        "trace_id": f"{context.trace_id:032x}",
        "span_id": f"{context.span_id:016x}",
        "parent": f"{span.parent.span_id:016x}" if span.parent else "",
        "name": span.name,
        "kind": OTLP_KINDS[span.kind],
        "start": span.start_time,
        "end": span.end_time,
        "attributes": with_types(span.attributes or {}),
        "events": [
            (event.timestamp, event.name, with_types(event.attributes or {}))
            for event in span.events
        ],
        "status": (span.status.status_code.value, span.status.description or ""),
    }


def from_otlp(span: Mapping[str, Any]) -> Shape:
    status = span.get("status", {})
    return {
        "trace_id": span["traceId"],
        "span_id": span["spanId"],
        "parent": span.get("parentSpanId", ""),
        "name": span["name"],
        "kind": span["kind"],
        "start": int(span["startTimeUnixNano"]),
        "end": int(span["endTimeUnixNano"]),
        "attributes": with_types(decoded(span.get("attributes", []))),
        "events": [
            (
                int(event["timeUnixNano"]),
                event["name"],
                with_types(decoded(event.get("attributes", []))),
            )
            for event in sorted(span.get("events", []), key=lambda e: int(e["timeUnixNano"]))
        ],
        "status": (status.get("code", 0), status.get("message", "")),
    }


def with_types(attributes: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    """Put each value beside the name of its type, because Python says that 1 == 1.0 == True."""
    return {key: (type(value).__name__, value) for key, value in attributes.items()}


def decoded(attributes: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    return {each["key"]: decoded_value(each["value"]) for each in attributes}


def decoded_value(value: Mapping[str, Any]) -> object:
    """Read OTLP's AnyValue in JSON, in which an int64 is a string."""
    ((kind, content),) = value.items()
    match kind:
        case "stringValue" | "boolValue":
            return content
        case "intValue":
            return int(content)
        case "doubleValue":
            return float(content)
        case "arrayValue":
            return tuple(map(decoded_value, content.get("values", [])))
    raise ValueError(f"no attribute of the SDK is sent as {kind!r}")

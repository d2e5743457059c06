"""The bytes of a span are those that OpenTelemetry's own encoder means."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

from loopspan import ToolLoop, tool
from loopspan.telemetry.export.encoding import encoded, request
from loopspan.testing import ScriptedModel, calls, capture

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
values = (
    texts
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.lists(texts, max_size=3).map(tuple)
    | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(tuple)
)
attributes = st.dictionaries(texts.filter(bool), values, max_size=6)
times = st.integers(0, 2**63)
states = st.sampled_from([TraceState(), TraceState([("a", "1"), ("b", "2")])])
contexts = st.builds(
    SpanContext,
    st.integers(1, 2**128 - 1),
    st.integers(1, 2**64 - 1),
    st.booleans(),
    st.just(TraceFlags(1)),
    states,
)
resources = st.builds(Resource, attributes, st.sampled_from(["", "https://schema/1"]))
scopes = st.none() | st.builds(
    InstrumentationScope,
    texts.filter(bool),
    st.sampled_from(["", "1.0"]),
    st.sampled_from(["", "https://schema/2"]),
    attributes,
)


def span_of(
    resource: Resource,
    scope: InstrumentationScope | None,
    context: SpanContext,
    parent: SpanContext | None,
    told: Mapping[str, Any],
    events: Sequence[Event],
    links: Sequence[Link],
    kind: SpanKind,
    status: Status,
    when: tuple[int, int],
) -> ReadableSpan:
    return ReadableSpan(
        "a name ✓",
        context,
        parent,
        resource,
        told,
        events,
        links,
        kind,
        None,
        status,
        when[0],
        when[1],
        scope,
    )


spans = st.builds(
    span_of,
    resources,
    scopes,
    contexts,
    st.none() | contexts,
    attributes,
    st.lists(st.builds(Event, texts, attributes, times), max_size=3),
    st.lists(st.builds(Link, contexts, attributes), max_size=2),
    st.sampled_from(SpanKind),
    st.sampled_from([Status(), Status(StatusCode.OK), Status(StatusCode.ERROR, "went wrong: ✗")]),
    st.tuples(times, times),
)


def decoded(batch: Sequence[ReadableSpan]) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest.FromString(request([encoded(span) for span in batch]))


@given(st.lists(spans, max_size=4))
def test_any_spans_are_encoded_as_the_sdk_does_it(batch: list[ReadableSpan]) -> None:
    assert decoded(batch) == encode_spans(batch)


def test_the_spans_of_a_run_are_encoded_as_the_sdk_does_it() -> None:
    @tool
    def look(at: str) -> dict[str, str]:
        """Look."""
        raise ValueError(at)

    with capture() as captured:
        model = ScriptedModel([calls("look", at="💡"), "A lamp."])
        ToolLoop(
            model.model,
            [look],
            client=model.client,
            tracer_provider=captured.provider,
            content="full",
        ).run("What is it?")
    assert len(captured.spans) == 4
    assert decoded(captured.spans) == encode_spans(captured.spans)


def test_dropped_counts_are_told() -> None:
    from opentelemetry.sdk.trace import SpanLimits

    limits = SpanLimits(max_span_attributes=1, max_events=1, max_links=0, max_event_attributes=1)
    provider = TracerProvider(span_limits=limits, shutdown_on_exit=False)
    with provider.get_tracer("t").start_as_current_span("s") as span:
        span.set_attributes({"a": 1, "b": 2})
        span.add_event("one", {"a": 1, "b": 2})
        span.add_event("two", {"a": 1, "b": 2})
    assert isinstance(span, ReadableSpan)
    assert decoded([span]) == encode_spans([span])


def test_what_the_sdk_cannot_encode_is_still_told() -> None:
    odd: dict[str, Any] = {
        "large": 2**70,
        "surrogate": "a\ud800b",
        "deep": {"x": [1, None, {"y": b"z"}]},
    }
    span = ReadableSpan("s", SpanContext(1, 2, False), attributes=odd, kind=SpanKind.CLIENT)
    [told] = decoded([span]).resource_spans[0].scope_spans[0].spans
    found = {pair.key: pair.value for pair in told.attributes}
    assert found["large"].string_value == str(2**70)
    assert found["surrogate"].string_value == "a?b"
    [x] = found["deep"].kvlist_value.values
    one, nothing, inner = x.value.array_value.values
    assert (one.int_value, nothing.WhichOneof("value")) == (1, None)
    assert inner.kvlist_value.values[0].value.bytes_value == b"z"

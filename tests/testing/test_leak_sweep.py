"""The sweep finds nothing where nothing may leave, everything where it belongs, and what leaks."""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from opentelemetry import baggage, context
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from loopspan import ConfigurationError, PolicyExporter, ToolOptions
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content
from loopspan.testing import Exits, Finding, leak_sweep
from loopspan.testing.leaks.markers import CONTENT, SECRETS
from loopspan.testing.leaks.sweep import unfiltered
from loopspan.testing.leaks.wires import WIRES

each_provider = pytest.mark.parametrize("provider", WIRES)

PROMPT = (f"[{names.INPUT_MESSAGES}]", f"[{names.SYSTEM_INSTRUCTIONS}]")
ERRORS = ("status.message", f"[{names.EXCEPTION_MESSAGE}]")
ARGUMENTS = (f"[{names.TOOL_CALL_ARGUMENTS}]", f"[{names.OUTPUT_MESSAGES}]")
BELONGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("system_prompt", "override", "snippet"), PROMPT),
    **dict.fromkeys(("skill", "user", "earlier_answer", "image", "image_address"), PROMPT[:1]),
    "request_settings": (f"[{names.REQUEST_PARAMETERS}]",),
    "tool_description": (f"[{names.TOOL_DEFINITIONS}]", f"[{names.TOOL_DESCRIPTION}]"),
    "parameter_description": (f"[{names.TOOL_DEFINITIONS}]",),
    "tool_arguments": ARGUMENTS,
    "wrong_arguments": ARGUMENTS,
    "wrong_argument_name": ARGUMENTS,
    "unknown_tool_arguments": ARGUMENTS,
    "tool_result": (f"[{names.TOOL_CALL_RESULT}]",),
    "returned_error": (f"[{names.TOOL_CALL_RESULT}]",),
    "tool_exception": (*ERRORS, "log loopspan.tools ERROR"),
    "tool_exception_cause": (f"[{names.EXCEPTION_STACKTRACE}]", "log loopspan.tools ERROR"),
    "inner_prompt": (*ARGUMENTS, PROMPT[0]),
    "inner_answer": (f"[{names.OUTPUT_MESSAGES}]", f"[{names.TOOL_CALL_RESULT}]"),
    "thinking": (f"[{names.OUTPUT_MESSAGES}]",),
    "answer": (f"[{names.OUTPUT_MESSAGES}]",),
    **dict.fromkeys(("provider_error", "stream_error", "broken_body", "broken_connection"), ERRORS),
}
"""Where each channel is told with full content: one of the ends for prompts, all for others."""

NOT_TAKEN = {"ollama": {"image_address"}}
"""Channels that a provider does not have."""


@each_provider
@pytest.mark.parametrize("content", ["off", "metadata"])
def test_pr01_pr03_nothing_leaves_without_full_content(provider: str, content: Content) -> None:
    settings = {"messages": "full", "compat": True} if content == "metadata" else {}
    report = leak_sweep(
        lambda exits: {**unfiltered(exits), **settings}, content=content, providers=[provider]
    )
    assert not report.leaks, report
    assert report.runs == 25
    assert report.searched["/v1/traces"] > 20_000
    assert report.searched["/v1/metrics"] > 20_000
    assert report.searched["log"] > 0


@each_provider
def test_with_full_content_everything_is_where_it_belongs(provider: str) -> None:
    report = leak_sweep(content="full", providers=[provider])
    assert not report.leaks, report
    for channel in CONTENT:
        ends = BELONGS[channel]
        places = report.places(channel)
        if channel in NOT_TAKEN.get(provider, ()):
            assert places == frozenset()
            continue
        told = {end for end in ends if any(place.endswith(end) for place in places)}
        assert told if ends == PROMPT else told == set(ends), (channel, places)
    assert all(not report.places(channel) for channel in SECRETS)


def test_raw_bodies_hold_content_and_never_a_secret() -> None:
    report = leak_sweep(
        content="full", options=ToolOptions().with_capture_raw(), providers=["anthropic"]
    )
    raw = "spans[chat].events[loopspan.raw.%s].attributes[loopspan.raw.body]"
    assert raw % "request" in report.places("user")
    assert raw % "response" in report.places("provider_error")
    assert not report.leaks, report


def exporting(content: Content, compression: Compression) -> Callable[[Exits], Mapping[str, Any]]:
    def set_up(exits: Exits) -> Mapping[str, Any]:
        exporter = OTLPSpanExporter(
            f"{exits.endpoint}/v1/traces", compression=compression, headers={"x-tenant": "shop"}
        )
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(PolicyExporter(exporter, content=content)))
        return {"tracer_provider": provider}

    return set_up


@pytest.mark.parametrize("compression", Compression)
def test_pr04_a_policy_keeps_content_that_was_recorded(compression: Compression) -> None:
    report = leak_sweep(
        exporting("off", compression), content="full", may_leave="off", providers=["openai"]
    )
    # What a program records for its own eyes is in its own log too.
    assert {leak.place for leak in report.leaks} == {"log loopspan.tools ERROR"}
    assert report.searched["/v1/traces"] > 10_000


@pytest.mark.parametrize("compression", Compression)
def test_what_a_policy_lets_through_is_found_in_the_bytes_that_arrive(
    compression: Compression,
) -> None:
    report = leak_sweep(
        exporting("full", compression), content="full", may_leave="metadata", providers=["openai"]
    )
    expected = "spans[chat].attributes[gen_ai.input.messages]"
    assert Finding("user", expected) in report.leaks
    assert f"user in {expected}, first by openai, plain, tools that work and fail" in str(report)


class Telling(SpanProcessor):
    """Hands what a span starts with to something that it should not get to."""

    def __init__(self, leak: Callable[[Any, str], object]) -> None:
        self._leak = leak

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        text = str((span.attributes or {}).get(names.INPUT_MESSAGES, ""))
        if text:
            self._leak(span, text)

    def on_end(self, span: ReadableSpan) -> None:
        pass


def into_baggage(span: Any, text: str) -> None:
    context.attach(baggage.set_baggage("last", text))


LEAKS: dict[str, tuple[Callable[[Any, str], object], str]] = {
    "name": (lambda span, text: span.update_name(f"chat {text}"), "spans[chat].name"),
    "attribute name": (
        lambda span, text: span.set_attribute(text, 1),
        "spans[chat].attributes",
    ),
    "event": (
        lambda span, text: span.add_event("note", {"said": text}),
        "spans[chat].events[note].attributes[said]",
    ),
    "log": (lambda span, text: logging.getLogger("shop").warning("%s", text), "log shop WARNING"),
    "log extra": (
        lambda span, text: logging.getLogger("shop").error("x", extra={"said": text}),
        "log shop ERROR",
    ),
    "output": (lambda span, text: sys.stdout.write(text), "standard output"),
    "error output": (lambda span, text: sys.stderr.write(text), "standard error"),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found_whatever_its_way(leak: str) -> None:
    telling, place = LEAKS[leak]

    def set_up(exits: Exits) -> Mapping[str, Any]:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(Telling(telling))
        policy = PolicyExporter(exits.span_exporter, content="off")
        provider.add_span_processor(SimpleSpanProcessor(policy))
        return {"tracer_provider": provider}

    report = leak_sweep(set_up, content="full", may_leave="off", providers=["openai"])
    assert any(leak.place.startswith(place) for leak in report.leaks if leak.channel == "user")


def test_content_that_is_propagated_to_other_services_is_found() -> None:
    def set_up(exits: Exits) -> Mapping[str, Any]:
        settings = unfiltered(exits)
        settings["tracer_provider"].add_span_processor(Telling(into_baggage))
        return settings

    token = context.attach(context.Context())
    try:
        report = leak_sweep(set_up, content="full", may_leave="off", providers=["openai"])
    finally:
        context.detach(token)
    assert Finding("user", "propagated header baggage") in report.leaks


def test_a_label_of_a_metric_is_searched() -> None:
    def set_up(exits: Exits) -> Mapping[str, Any]:
        settings = unfiltered(exits)
        counter = settings["meter_provider"].get_meter("shop").create_counter("asked")
        telling = Telling(lambda span, text: counter.add(1, {"said": text}))
        settings["tracer_provider"].add_span_processor(telling)
        return settings

    report = leak_sweep(set_up, content="full", may_leave="off", providers=["ollama"])
    place = "metrics[asked].sum.data_points.attributes[said]"
    assert Finding("user", place) in report.leaks


def test_headers_of_an_export_are_searched() -> None:
    def set_up(exits: Exits) -> Mapping[str, Any]:
        def told(span: Any, text: str) -> None:
            httpx.post(f"{exits.endpoint}/v1/traces", headers={"x-last": text})

        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(Telling(told))
        return {"tracer_provider": provider}

    report = leak_sweep(set_up, content="full", may_leave="off", providers=["openai"])
    assert Finding("user", "header x-last of /v1/traces") in report.leaks


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="no prepared answers of 'demo'; there are of op"):
        leak_sweep(providers=["demo"])


def test_a_set_up_that_exports_nothing_has_not_been_tested() -> None:
    def set_up(exits: Exits) -> Mapping[str, Any]:
        provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exits.span_exporter))
        return {"tracer_provider": provider}

    with pytest.raises(ConfigurationError, match="nothing was tested"):
        leak_sweep(set_up, providers=["openai"])

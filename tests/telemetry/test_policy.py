"""What leaves the process: content as far as a sink may have it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import Status, StatusCode

from loopspan import (
    ConfigurationError,
    PolicyExporter,
    Redaction,
)
from loopspan.telemetry import semconv as names
from loopspan.telemetry import spans as span_layer
from loopspan.telemetry.redaction import DEFAULT_REDACTION
from loopspan.telemetry.setup import exporting_processor
from loopspan.testing import ScriptedModel, capture
from tests.loop.ways import loop_of
from tests.servers import Answer, playing
from tests.telemetry.sinks import (
    KEY,
    MARK,
    Sink,
    everything,
    exported,
    limited,
    masking,
    text_of,
    through,
    traced,
)


@pytest.mark.parametrize("policy", [everything, masking, limited(100)])
def test_a_span_to_which_nothing_applies_is_handed_on_itself(
    policy: Callable[[SpanExporter], SpanExporter],
) -> None:
    def record(span: Any) -> None:
        span.set_attributes({names.OUTPUT_MESSAGES: "[]", "task-key": ("a", "b"), "n": 1})
        span.add_event("exception", {"exception.message": "no token= here"})
        span.add_event(names.RAW_REQUEST_EVENT, {names.RAW_BODY: "{}", names.RAW_PART: 1})
        span.set_status(Status(StatusCode.ERROR, "desk-bound"))

    before, after = through(policy, record)
    assert after is before


def test_the_span_that_others_see_stays_whole() -> None:
    def record(span: Any) -> None:
        span.set_attribute(names.OUTPUT_MESSAGES, json.dumps([{"a": KEY + "x" * 5000}]))
        span.add_event("exception", {"exception.message": KEY})

    untouched, _ = through(lambda sink: sink, record)
    before, after = through(
        lambda sink: PolicyExporter(
            sink, content="metadata", max_attribute_bytes=200, redact=DEFAULT_REDACTION
        ),
        record,
    )
    assert before.attributes == untouched.attributes
    assert [e.attributes for e in before.events] == [e.attributes for e in untouched.events]
    assert after.attributes != before.attributes


def test_pr_04_a_fresh_install_exports_no_content_and_shows_it_in_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with playing([Answer(200, "application/x-protobuf", b"")] * 9) as server, capture() as captured:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        processor = exporting_processor()
        assert processor is not None
        captured.provider.add_span_processor(processor)
        result = traced(captured, "xylophone", capture_raw=True)
        captured.provider.force_flush()

    sent = b"".join(server.bodies)
    assert result.run_id.encode() in sent
    for word in (b"xylophone", b"Be kind", b"Read much", b"It says", b"rrrr"):
        assert word not in sent
    assert not any(name.encode() in sent for name in names.CONTENT_ATTRIBUTES)
    run = captured.run_trace.run(result.run_id)
    assert run is not None
    assert run.content == result.content
    assert "xylophone" in run.model_dump_json()


def test_metadata_is_what_a_sink_gets_that_may_have_no_more() -> None:
    with capture() as captured:
        traced(captured, "xylophone", capture_raw=True)
    sent = exported(captured, content="metadata")
    told = "".join(span.to_json() for span in sent)
    assert "xylophone" not in told
    assert "rrr" not in told
    first = next(span for span in sent if span.name.startswith("chat"))
    assert json.loads(text_of(first, names.INPUT_MESSAGES))[1] == {
        "role": "user",
        "parts": [{"type": "text", "bytes": 9}],
    }


def test_what_the_sdk_dropped_is_still_said() -> None:
    sink = Sink()
    provider = TracerProvider(
        span_limits=SpanLimits(max_span_attributes=2, max_events=1), shutdown_on_exit=False
    )
    policy = PolicyExporter(sink, content="full", redact=DEFAULT_REDACTION)
    provider.add_span_processor(SimpleSpanProcessor(policy))
    with provider.get_tracer("test").start_as_current_span("work") as span:
        span.set_attributes({"a": 1, "b": 2, "c": KEY})
        span.add_event("one")
        span.add_event("two")
    [after] = sink.got
    assert (after.dropped_attributes, after.dropped_events, after.dropped_links) == (1, 1, 0)
    assert (after.attributes or {})["c"] == MARK


class BrokenRedaction(Redaction):
    def may_match(self, text: str) -> bool:
        raise ValueError(KEY)


def broken(sink: SpanExporter) -> PolicyExporter:
    return PolicyExporter(sink, content="full", redact=BrokenRedaction())


def test_a_policy_that_fails_lets_no_text_through(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(span_layer, "strict", False)
    before, after = through(broken, lambda span: span.set_attributes({"a": "secret", "n": 1}))
    assert (after.name, dict(after.attributes or {}), after.events) == ("withheld", {"n": 1}, ())
    assert after.get_span_context() == before.get_span_context()
    assert "ValueError" in caplog.text
    assert KEY not in caplog.text


def test_under_test_a_policy_that_fails_is_raised() -> None:
    with capture() as captured:
        loop_of(ScriptedModel(["Hi."]), captured=captured).run("Hi.")
    with pytest.raises(ValueError, match="sk-ant"):
        broken(Sink()).export(captured.spans)


@pytest.mark.parametrize("settings", [{"content": "ful"}, {"max_attribute_bytes": 0}])
def test_a_policy_that_cannot_be_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        PolicyExporter(Sink(), **settings)

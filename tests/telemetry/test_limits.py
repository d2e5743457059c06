"""The SDK's limits: what they would cut in the middle of its JSON is cut inside before."""

import json
import logging
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import NoOpTracer

from loopspan import Blob, Message, ToolCall, ToolCallResponse, ToolOptions, assistant, system, user
from loopspan.runs import ToolStep
from loopspan.telemetry import semconv as names
from loopspan.telemetry.limits import TextLimits, text_limits
from loopspan.telemetry.trimming import Cuts
from loopspan.testing import Captured, ScriptedModel, calls, capture, message
from tests.loop.ways import loop_of
from tests.telemetry.sinks import Sink, cuts_of, read, read_back, text_of

SPAN = "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"
ALL = "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"


def chats(captured: Captured) -> list[ReadableSpan]:
    return [span for span in captured.spans if span.name.startswith("chat")]


def limited_provider(length: int) -> tuple[TracerProvider, Sink]:
    """A provider that cuts texts at a length of its own, and what it records."""
    limits = SpanLimits(max_span_attribute_length=length)
    provider, sink = TracerProvider(span_limits=limits, shutdown_on_exit=False), Sink()
    provider.add_span_processor(SimpleSpanProcessor(sink))
    return provider, sink


def test_sz_02_the_operator_s_limit_leaves_json_that_parses(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(SPAN, "1000")
    dialogue = [
        system("Be kind."),
        *(user(f"Question {i}?") for i in range(6)),
        assistant("x" * 30_000),
        user("And this?"),
        user("Now read."),
    ]
    model = ScriptedModel([calls("read", id="call_1"), message("a" * 3000)])
    with capture() as captured, caplog.at_level(logging.WARNING):
        result = loop_of(model, [read], captured, content="full").run(tuple(dialogue))

    # The SDK warns of what it cuts.
    assert [r for r in caplog.records if r.name.startswith("opentelemetry")] == []
    for span in captured.spans:
        for name in names.CONTENT_ATTRIBUTES & (span.attributes or {}).keys():
            assert len(text_of(span, name)) <= 1000
            if name != names.TOOL_DESCRIPTION:
                json.loads(text_of(span, name))
    first, second = chats(captured)
    told = json.loads(text_of(first, names.INPUT_MESSAGES))
    assert told[0] == dialogue[0].to_json()
    assert told[8:] == [m.to_json() for m in dialogue[8:]]
    assert told[7]["parts"][0]["content"].endswith(" of 30,000 bytes kept]")
    assert cuts_of(first).keys() == {names.INPUT_MESSAGES}
    assert cuts_of(second).keys() == {names.OUTPUT_MESSAGES}
    [called] = [s for s in captured.spans if s.name == "execute_tool read"]
    assert cuts_of(called).keys() == {"result", names.TOOL_CALL_RESULT}
    assert result.run == captured.run_trace.run(result.run_id) == read_back(captured.spans)


def test_sz_02_the_start_of_a_span_says_already_what_was_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SPAN, "500")
    seen: list[dict[str, Any]] = []

    class AtStart(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            seen.append(dict(span.attributes or {}))

    with capture() as captured:
        captured.provider.add_span_processor(AtStart())
        loop_of(ScriptedModel(["Hi."]), captured=captured, content="full").run("x" * 900)
    cut = json.loads(seen[-1][names.TRUNCATED])
    assert cut[names.INPUT_MESSAGES]["from"] > 900
    assert cuts_of(chats(captured)[0]) == cut


@pytest.mark.parametrize("length", [SpanLimits.UNSET, 20_000])
def test_what_fits_is_left_alone(length: int) -> None:
    provider, sink = limited_provider(length)
    model = ScriptedModel(["Hi."])
    loop_of(model, content="full", tracer_provider=provider).run("x" * 9000)
    span = next(span for span in sink.got if span.name.startswith("chat"))
    assert names.TRUNCATED not in (span.attributes or {})
    assert "x" * 9000 in text_of(span, names.INPUT_MESSAGES)


def test_characters_count_not_bytes() -> None:
    text = "€" * 900
    limits, cuts = TextLimits(span=1000), Cuts()
    attributes = {names.OUTPUT_MESSAGES: json.dumps([text], ensure_ascii=False)}
    assert limits.attributes(attributes, cuts) == attributes
    assert cuts == {}


def test_events_keep_the_general_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALL, "600")
    options = ToolOptions(capture_raw=True)
    with capture() as captured:
        model = ScriptedModel([ValueError("v" * 2000)])
        with pytest.raises(ValueError, match="vvv"):
            loop_of(model, captured=captured, content="full").run("x" * 900, options=options)
    [span] = chats(captured)
    [raw, exception] = span.events
    body = json.loads(str((raw.attributes or {})[names.RAW_BODY]))
    assert body["messages"][0]["role"] == "user"
    assert " of 900 bytes kept]" in body["messages"][0]["content"]
    assert " of 2,000 bytes kept]" in str((exception.attributes or {})["exception.message"])
    assert cuts_of(span).keys() == {
        names.INPUT_MESSAGES,
        f"{names.RAW_REQUEST_EVENT}.{names.RAW_BODY}",
        "exception.message",
        "exception.stacktrace",
    }


@pytest.mark.parametrize(
    ("span", "general", "limits"),
    [
        (None, None, TextLimits()),
        ("5", None, TextLimits(5, None)),
        (None, " 7 ", TextLimits(7, 7)),
        ("5", "7", TextLimits(5, 7)),
        ("", "7", TextLimits(None, 7)),
        ("0", "many", TextLimits(0, None)),
        ("-1", "1.5", TextLimits()),
    ],
)
def test_a_tracer_of_others_has_the_limits_of_the_environment(
    span: str | None, general: str | None, limits: TextLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ((SPAN, span), (ALL, general)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert text_limits(NoOpTracer()) == limits


def test_a_provider_with_limits_of_its_own_has_these(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SPAN, "5")
    unlimited = SpanLimits.UNSET
    own = SpanLimits(max_attribute_length=9, max_span_attribute_length=unlimited)
    tracer = TracerProvider(span_limits=own, shutdown_on_exit=False).get_tracer("test")
    assert text_limits(tracer) == TextLimits(None, 9)


def test_a_limit_below_the_smallest_form_drops_content_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SPAN, "60")
    with capture() as captured:
        result = loop_of(ScriptedModel(["Hi."]), captured=captured, content="full").run("x" * 99)
    [span] = chats(captured)
    assert names.INPUT_MESSAGES not in (span.attributes or {})
    assert (span.attributes or {})[names.RUN_ID] == result.run_id
    assert result.run == captured.run_trace.run(result.run_id)


def test_sz_04_a_long_dialog_drops_no_attribute_under_default_limits() -> None:
    dialogue: list[Message] = [system("Be kind.")]
    for i in range(30):
        call = ToolCall("look", {"n": i}, id=f"call_{i}")
        dialogue += [
            user(f"Question {i}?", Blob("image", "aGk=", "image/png")),
            assistant(call),
            Message("tool", (ToolCallResponse(f"result {i}", id=f"call_{i}"),)),
        ]
    dialogue += [user(f"More {i}?") for i in range(100 - len(dialogue))]
    options = ToolOptions(session_id="s-1", metadata={f"key_{i}": str(i) for i in range(20)})
    model = ScriptedModel([calls("read", id="call_x"), "Done."])
    with capture() as captured:
        loop = loop_of(model, [read], captured, content="full", compat=True)
        loop.run(tuple(dialogue), options=options)

    for span in captured.spans:
        attributes = span.attributes or {}
        assert span.dropped_attributes == span.dropped_events == 0
        assert len(attributes) < 64
        assert attributes[names.SESSION_ID] == "s-1"
    first = chats(captured)[0]
    assert len(json.loads(text_of(first, names.INPUT_MESSAGES))) == 100
    assert (first.attributes or {})[names.USAGE_INPUT_TOKENS] == 10
    assert text_of(first, names.REQUEST_MODEL) == "scripted-1"


def test_cut_results_are_read_back_the_same() -> None:
    provider, sink = limited_provider(400)
    model = ScriptedModel([calls("read", id="call_1"), "Done."])
    result = loop_of(model, [read], content="full", tracer_provider=provider).run("Please.")
    [step] = [step for step in result.run.steps if isinstance(step, ToolStep)]
    assert (step.result or "").endswith(" of 60,000 bytes kept]")
    assert result.run == read_back(sink.got)

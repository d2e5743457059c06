"""Texts that are too long for a sink are cut before they leave the process."""

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.trace import Status, StatusCode

from loopspan import (
    PolicyExporter,
    user,
)
from loopspan.runs import ToolStep
from loopspan.telemetry import semconv as names
from loopspan.telemetry.setup import exporting_processor
from loopspan.testing import ScriptedModel, calls, capture
from tests.loop.ways import loop_of
from tests.servers import Answer, playing
from tests.telemetry.sinks import (
    bodies,
    cuts_of,
    exported,
    limited,
    read,
    read_back,
    size,
    text_of,
    through,
    traced,
)


def test_sz_01_a_stock_tempo_finds_nothing_to_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing([Answer(200, "application/x-protobuf", b"")] * 9) as server, capture() as captured:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        processor = exporting_processor("full")
        assert processor is not None
        captured.provider.add_span_processor(processor)
        traced(captured, "p" * 20_000, capture_raw=True)
        captured.provider.force_flush()

    seen = 0
    for body in server.bodies:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                attributes = {a.key: a.value.string_value for a in span.attributes}
                texts = [a.value.string_value for e in span.events for a in e.attributes]
                assert max(len(text.encode()) for text in (*attributes.values(), *texts)) < 2048
                for name in names.CONTENT_ATTRIBUTES & attributes.keys() - {names.TOOL_DESCRIPTION}:
                    json.loads(attributes[name])
                if names.INPUT_MESSAGES in attributes and seen == 0:
                    cut = json.loads(attributes[names.TRUNCATED])[names.INPUT_MESSAGES]
                    assert cut["from"] > 20_000 > 2000 >= cut["to"] > 1900
                    assert " of 20,000 bytes kept]" in attributes[names.INPUT_MESSAGES]
                    seen += 1
    assert seen == 1


@pytest.mark.parametrize(
    "policy",
    [{"content": "off"}, {"content": "full", "max_attribute_bytes": 2000}],
    ids=["off", "limit"],
)
def test_sz_05_small_facts_survive_a_backend_that_keeps_64_kb(policy: dict[str, Any]) -> None:
    with capture() as captured:
        traced(captured, "p" * 256_000)
    span = next(s for s in exported(captured, **policy) if s.name.startswith("chat"))

    room, kept = 64 * 1024, {}
    for key, value in (span.attributes or {}).items():
        room -= len(key) + len(str(value).encode())
        if room >= 0:
            kept[key] = value
    assert kept[names.REQUEST_MODEL] == "scripted-1"
    assert kept[names.USAGE_INPUT_TOKENS] == 10
    assert kept[names.RESPONSE_FINISH_REASONS] == ("tool_call",)
    assert names.COST_MISSING in kept
    assert (names.INPUT_MESSAGES in kept) == (policy["content"] == "full")


def test_what_the_span_says_already_is_merged_with_what_the_policy_cuts() -> None:
    with capture() as captured:
        traced(captured)
    sent = exported(captured, content="full", max_attribute_bytes=1000)
    [span] = [s for s in sent if s.name == "execute_tool read"]

    cuts = cuts_of(span)
    assert cuts["result"] == {"from": 60_000, "to": 50_000}
    assert cuts[names.TOOL_CALL_RESULT]["from"] > 50_000
    assert cuts[names.TOOL_CALL_RESULT]["to"] == size(text_of(span, names.TOOL_CALL_RESULT))
    [step] = [s for s in read_back(sent).steps if isinstance(s, ToolStep)]
    assert {cut.field for cut in step.cut} == {"result", names.TOOL_CALL_RESULT}
    assert (step.result or "").endswith(" of 60,000 bytes kept]")


def test_small_content_says_nothing_of_cuts() -> None:
    with capture() as captured:
        loop_of(ScriptedModel(["Hello."]), captured=captured, content="full").run("Hi.")
    sent = exported(captured, content="full", max_attribute_bytes=2000)
    assert sent == captured.spans
    assert not any(names.TRUNCATED in (span.attributes or {}) for span in sent)


def test_rounds_that_lost_messages_are_read_back_in_line() -> None:
    history = tuple(user(f"Question {i}: " + "why? " * 30) for i in range(60))
    model = ScriptedModel([calls("read", id="call_1"), "Done."])
    with capture() as captured:
        result = loop_of(model, [read], captured, content="full").run((*history, user("Go on.")))
    sent = exported(captured, content="full", max_attribute_bytes=1500)

    whole = [step for step in result.run.steps if step.kind == "request"]
    left = [step for step in read_back(sent).steps if step.kind == "request"]
    assert (
        [len(s.messages or ()) for s in left]
        == [len(s.messages or ()) for s in whole]
        == [
            61,
            63,
        ]
    )
    for step, before in zip(left, whole, strict=True):
        assert step.new_from == before.new_from
        roles = [m["role"] for m in step.messages or ()]
        assert set(roles[:20]) == {"left_out"}
        assert roles[58:] == [m["role"] for m in before.messages or ()][58:]


def test_metadata_of_a_span_that_lost_messages_still_counts_them() -> None:
    mark = {"role": "left_out", "parts": [{"type": "text", "content": "[7 left out]"}]}
    text = json.dumps([{**mark, names.LEFT_OUT: 7}, {"role": "user", "parts": []}])
    _, after = through(
        lambda sink: PolicyExporter(sink, content="metadata"),
        lambda span: span.set_attribute(names.INPUT_MESSAGES, text),
    )
    [first, _] = json.loads(text_of(after, names.INPUT_MESSAGES))
    assert (first["role"], first[names.LEFT_OUT]) == ("left_out", 7)


def test_a_raw_body_is_split_smaller_and_loses_nothing() -> None:
    with capture() as captured:
        result = traced(captured, "pä" * 6000, capture_raw=True)
    sent = exported(captured, content="full", max_attribute_bytes=2000)
    for span in sent:
        for part in bodies(span, names.RAW_REQUEST_EVENT):
            assert len(part.encode()) <= 2000
    first = next(s for s in result.run.steps if s.kind == "chat")
    again = next(s for s in read_back(sent).steps if s.kind == "chat")
    assert first.raw == again.raw
    assert first.raw is not None


def test_a_raw_body_of_too_many_parts_is_cut_and_says_so() -> None:
    body = json.dumps({"a": "x" * 60_000})
    part = {names.RAW_BODY: body, names.RAW_PART: 1, names.RAW_PARTS: 1}
    _, after = through(limited(500), lambda span: span.add_event(names.RAW_RESPONSE_EVENT, part))
    parts = bodies(after, names.RAW_RESPONSE_EVENT)
    assert len(parts) <= 100
    assert json.loads("".join(parts))["a"].endswith(" of 60,000 bytes kept]")
    assert cuts_of(after) == {
        names.RAW_RESPONSE_EVENT: {"from": len(body), "to": len("".join(parts).encode())}
    }


def test_exceptions_and_status_texts_are_cut_too() -> None:
    def record(span: Any) -> None:
        span.add_event("exception", {"exception.message": "m" * 900, "exception.type": "E"})
        span.add_event("note", {"text": "n" * 900})
        span.set_status(Status(StatusCode.ERROR, "s" * 900))

    _, after = through(limited(300), record)
    assert cuts_of(after) == {
        "exception.message": {"from": 900, "to": 300},
        "note.text": {"from": 900, "to": 300},
        "otel.status_description": {"from": 900, "to": 300},
    }
    assert (after.status.description or "").endswith(" of 900 bytes kept]")
    assert (after.events[0].attributes or {})["exception.type"] == "E"


def test_below_its_smallest_form_an_attribute_is_dropped_and_said() -> None:
    _, after = through(
        limited(100),
        lambda span: span.set_attribute("x", json.dumps({"type": "t" * 60, "k" * 99: 1})),
    )
    assert cuts_of(after) == {"x": {"from": 178, "to": 90}}
    assert json.loads(text_of(after, "x")) == {"type": "t" * 60, "…": "1 left out"}
    _, after = through(limited(10), lambda span: span.set_attributes({"x": "y" * 50, "n": 1}))
    assert (after.attributes or {}).keys() == {"n", names.TRUNCATED}
    assert cuts_of(after) == {"x": {"from": 50, "to": 0}}

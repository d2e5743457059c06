"""Secrets are masked in whatever leaves the process."""

import json
import logging
from functools import partial
from typing import Any

import pytest
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import Status, StatusCode

from loopspan import (
    PolicyExporter,
    Redaction,
)
from loopspan.telemetry import semconv as names
from loopspan.telemetry.redaction import DEFAULT_REDACTION
from tests.telemetry.sinks import (
    KEY,
    MARK,
    bodies,
    everything,
    masking,
    recorded,
    text_of,
    through,
)


def test_secrets_are_masked_in_every_text_of_a_span() -> None:
    def record(span: Any) -> None:
        span.update_name(f"run {KEY}")
        span.set_attributes(
            {
                names.OUTPUT_MESSAGES: json.dumps([{"parts": [{"content": f'"{KEY}"'}]}]),
                "tags": ("a", KEY),
                "app.api_key": "swordfish",
                "http.request.header.authorization": ("swordfish",),
                "n": 5,
            }
        )
        span.add_event("exception", {"exception.message": f"bad {KEY}", "exception.type": "E"})
        span.add_event("note", {"deep": {"x": [KEY], "password": "swordfish"}})
        span.add_event("plain", {"a": "b"})
        span.set_status(Status(StatusCode.ERROR, f"because of {KEY}"))

    before, after = through(masking, record)
    assert KEY not in after.to_json()
    assert "swordfish" not in after.to_json()
    assert after.name == f"run {MARK}"
    assert after.status.description == f"because of {MARK}"
    assert json.loads(text_of(after, names.OUTPUT_MESSAGES)) == [
        {"parts": [{"content": f'"{MARK}"'}]}
    ]
    a = after.attributes or {}
    assert (a["tags"], a["n"]) == (("a", MARK), 5)
    assert a["app.api_key"] == "[redacted: secret_field]"
    assert a["http.request.header.authorization"] == ("[redacted: secret_field]",)
    assert dict(after.events[0].attributes or {}) == {
        "exception.message": f"bad {MARK}",
        "exception.type": "E",
    }
    assert after.events[2] is before.events[2]


def test_pr_08_redaction_that_is_off_masks_nothing() -> None:
    before, after = through(everything, lambda span: span.set_attribute("password", KEY))
    assert after is before


def test_pr_07_no_part_of_a_match_is_in_a_mark_an_event_or_a_log_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = "corp-db://admin:Tr0ub4dor@10.0.0.7/payroll"
    redaction = Redaction(patterns={"database": r"corp-db://\S+"})

    def record(span: Any) -> None:
        span.set_attribute(names.TOOL_CALL_RESULT, json.dumps({"result": f"from {address} ok"}))
        span.record_exception(ValueError(f"cannot open {address}"))

    with caplog.at_level(logging.DEBUG):
        _, after = through(
            lambda sink: PolicyExporter(sink, content="full", redact=redaction), record
        )
    told = after.to_json() + caplog.text
    assert json.loads(text_of(after, names.TOOL_CALL_RESULT)) == {
        "result": "from [redacted: database] ok"
    }
    assert not any(part in told for part in ("corp-db", "admin", "Tr0ub4dor", "10.0.0.7"))


def test_a_secret_at_the_cut_is_masked_before_it_could_be_halved() -> None:
    def both(sink: SpanExporter) -> PolicyExporter:
        return PolicyExporter(
            sink, content="full", max_attribute_bytes=1000, redact=DEFAULT_REDACTION
        )

    for before in range(900, 1000):
        text = json.dumps({"result": "x" * before + " " + KEY + " " + "y" * 2000})
        _, after = through(both, partial(recorded, {names.TOOL_CALL_RESULT: text}))
        assert "sk-" not in text_of(after, names.TOOL_CALL_RESULT)


def test_a_secret_across_two_parts_of_a_raw_body_is_masked() -> None:
    body = json.dumps({"a": "x" * 32_750 + " " + KEY + " rest"})

    def record(span: Any) -> None:
        for number, at in enumerate(range(0, len(body), 32_768), 1):
            part = {names.RAW_BODY: body[at : at + 32_768], names.RAW_PART: number}
            span.add_event(names.RAW_REQUEST_EVENT, {**part, names.RAW_PARTS: 2})
        span.add_event("after")

    before, after = through(masking, record)
    assert not any(KEY in part for part in bodies(before, names.RAW_REQUEST_EVENT))
    assert json.loads("".join(bodies(after, names.RAW_REQUEST_EVENT))) == {
        "a": "x" * 32_750 + f" {MARK} rest"
    }
    assert after.events[-1].name == "after"

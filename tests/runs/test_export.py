"""A run on its way out and in again: the same from each form."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from hypothesis import HealthCheck, given, settings
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from loopspan.jsontext import load
from loopspan.runs import Run
from loopspan.runs.export import as_ndjson, as_otlp_json, as_run_json
from loopspan.runs.otlp import spans
from loopspan.runs.sources import FileSource
from loopspan.telemetry.record import SpanRecord
from loopspan.testing import capture
from tests.runs.generated import Case, cases, made


def read(data: bytes) -> tuple[Run, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_bytes(data)
        return FileSource(path).read().runs


@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_an_exported_run_is_read_as_the_same(case: Case) -> None:
    with capture() as captured:
        run = made(case, captured).run

    told = captured.run_trace.spans(run.run_id)
    assert read(as_otlp_json(told)) == (run,)
    assert read(as_run_json(run)) == (run,)
    assert read(b"".join(as_ndjson(run))) == (run,)
    assert load(as_run_json(run)) == load(json.dumps(run.model_dump(mode="json")))


VALUES: dict[str, Any] = {
    "text": "a\n👋",
    "number": 2**63 - 1,
    "larger": 2**63,
    "real": 0.5,
    "huge": float("inf"),
    "low": float("-inf"),
    "flag": True,
    "none": None,
    "list": ["a", 1, False],
    "tuple": ("a",),
    "object": {"a": {"b": [1.5]}},
    "bytes": b"\x00\xff",
    "": "",
}


def record(**changes: Any) -> SpanRecord:
    known: dict[str, Any] = {
        "name": "chat m",
        "trace_id": "ab" * 16,
        "span_id": "cd" * 8,
        "parent_id": None,
        "started_at": 5,
        "ended_at": 9,
        "attributes": VALUES,
        "status": "error",
        "status_message": "no",
    }
    return SpanRecord(**{**known, **changes})


def test_values_of_each_type_come_back() -> None:
    [back] = spans(load(as_otlp_json([record()])))
    assert back.attributes == {**VALUES, "tuple": ["a"], "larger": str(2**63)}
    assert back.attributes["flag"] is True
    [not_a_number] = spans(load(as_otlp_json([record(attributes={"x": float("nan")})])))
    assert not_a_number.attributes["x"] != not_a_number.attributes["x"]
    [still_open] = spans(load(as_otlp_json([record(ended_at=None, status="unset")])))
    assert (still_open.ended_at, still_open.status) == (None, "unset")


@pytest.mark.parametrize("operation", ["chat", "execute_tool"])
def test_the_document_is_what_protobuf_reads(operation: str) -> None:
    """Ids aside, which OTLP writes in hex and protobuf in base64."""
    attributes = {**VALUES, "gen_ai.operation.name": operation}
    document = load(as_otlp_json([record(attributes=attributes)], service="shop"))
    [span] = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert (span.pop("traceId"), span.pop("spanId")) == ("ab" * 16, "cd" * 8)
    read = Parse(json.dumps(document), TracesData()).resource_spans[0]
    assert read.resource.attributes[0].value.string_value == "shop"
    [told] = read.scope_spans[0].spans
    assert (told.name, told.kind) == ("chat m", 3 if operation == "chat" else 1)
    assert (told.start_time_unix_nano, told.end_time_unix_nano) == (5, 9)
    assert (told.status.code, told.status.message) == (2, "no")
    values = {each.key: each.value for each in told.attributes}
    assert values["number"].int_value == 2**63 - 1
    assert values["object"].kvlist_value.values[0].key == "a"

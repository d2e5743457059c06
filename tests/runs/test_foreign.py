"""`RunTrace` and the reader take whatever spans there are, and never raise."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from loopspan import RunTrace
from loopspan.telemetry import semconv
from loopspan.testing import ScriptedModel, capture
from tests.loop.ways import loop_of

OPERATION = semconv.OPERATION_NAME
NAMES = sorted(
    value
    for name, value in vars(semconv).items()
    if name.isupper() and isinstance(value, str) and "." in value and "/" not in value
)
TEXTS = (
    "",
    "x",
    "{",
    "null",
    "7",
    "[1]",
    "[[]]",
    "{}",
    '{"parts": 1}',
    '[{"parts": 1}]',
    '[{"role": 7, "parts": [{"type": "tool_call", "id": 7, "name": null}]}]',
    '[{"parts": [{"type": "text", "content": {}}, {"type": 1}, 7]}]',
    '[{"parts": [{"type": "tool_call_response", "response": {"loopspan.result_of": []}}]}]',
    '{"result": {"from": 1, "to": "x"}}',
    '{"result": {"from": null, "to": 2}}',
    '{"arguments": []}',
    "\ud800",
    "NaN",
)
values: st.SearchStrategy[Any] = (
    st.sampled_from(TEXTS)
    | st.sampled_from(["chat", "execute_tool", "invoke_agent", "dry_run", "lost", "provider"])
    | st.integers(-3, 3)
    | st.sampled_from([2**70, -(2**70)])
    | st.floats()
    | st.booleans()
    | st.lists(st.sampled_from(TEXTS), max_size=2)
    | st.lists(st.integers(0, 3), max_size=2)
)
operations = st.sampled_from(["chat", "execute_tool", "invoke_agent", "", "embeddings"])


def spans_of(attributes: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    told = st.dictionaries(st.sampled_from(NAMES), attributes, max_size=12)
    return st.lists(
        st.builds(lambda many, operation: {**many, OPERATION: operation}, told, operations),
        max_size=4,
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spans=spans_of(values))
@example(spans=[{OPERATION: "chat", semconv.OUTPUT_MESSAGES: TEXTS[10]}])
@example(spans=[{OPERATION: "chat", semconv.RESPONSE_FINISH_REASONS: 7}])
@example(spans=[{OPERATION: "execute_tool", semconv.TRUNCATED: TEXTS[13]}])
def test_spans_of_any_kind_are_read(spans: list[dict[str, Any]]) -> None:
    run_trace = RunTrace()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(run_trace)
    run_trace.subscribe(lambda event: event.run and event.run.model_dump(mode="json"))
    tracer = provider.get_tracer("foreign")
    with tracer.start_as_current_span("run", attributes={**ROOT, semconv.RUN_ID: "r"}):
        for attributes in spans:
            span = tracer.start_span("x", attributes={**attributes, semconv.RUN_ID: "r"})
            span.add_event(semconv.RETRY_EVENT, attributes)
            span.add_event(semconv.RAW_REQUEST_EVENT, attributes)
            span.end()

    [run] = run_trace.runs()
    assert run.run_id == "r"
    assert run.model_dump(mode="json")["run_id"] == "r"


ROOT = {OPERATION: "invoke_agent"}


class Broken(ReadableSpan):
    """A span whose attributes cannot be had."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        raise ValueError("no attributes")


def test_a_span_that_cannot_be_read_is_said_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_trace = RunTrace()
    with caplog.at_level(logging.WARNING, "loopspan.runs"):
        run_trace.on_end(Broken("x"))

    assert run_trace.runs() == ()
    assert [record.getMessage() for record in caplog.records] == [
        "a span could not be taken into RunTrace"
    ]


@pytest.mark.parametrize("run_id", [None, 7, ["r"], True])
def test_a_span_of_no_run_is_left_out(run_id: Any) -> None:
    with capture() as captured:
        attributes = dict(ROOT) if run_id is None else {**ROOT, semconv.RUN_ID: run_id}
        captured.provider.get_tracer("x").start_span("x", attributes=attributes).end()

    assert captured.run_trace.runs() == ()


def test_the_spans_of_tools_and_clients_are_no_steps() -> None:
    with capture() as captured:
        tracer = captured.provider.get_tracer("app")

        def answer(body: Any) -> str:
            with tracer.start_as_current_span("POST"):
                return "Hello."

        result = loop_of(ScriptedModel([answer]), [], captured).run("Hi.")

    assert [step.kind for step in result.run.steps] == ["request", "chat"]
    assert captured.run_trace.runs() == (result.run,)

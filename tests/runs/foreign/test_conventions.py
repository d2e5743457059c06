"""The same dialogue in each convention makes the same run."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.runs import ChatStep, RequestStep, Run, ToolStep, findings, read_runs
from loopspan.runs.foreign.names import ALIASES, KINDS, MARKERS
from loopspan.telemetry.record import SpanEvent, SpanRecord
from tests.runs.foreign.conventions import details_event, pydantic_ai
from tests.runs.foreign.dialogue import (
    ANSWER,
    ARGUMENTS,
    CURRENT_CALL,
    CURRENT_SENT,
    RESULT,
    TRACE,
    record,
)
from tests.runs.foreign.platforms import langfuse, openinference, openllmetry, vercel
from tests.runs.foreign.written import WRITERS

Writer = Callable[[], list[SpanRecord]]
each_writer = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)


def run_of(spans: list[SpanRecord]) -> Run:
    [run] = read_runs(spans)
    return run


def without_names(messages: Any) -> list[dict[str, Any]]:
    """Messages without the names of tools in results, which some tell and some do not."""
    return [
        {
            **message,
            "parts": [
                {k: v for k, v in part.items() if part["type"] == "tool_call" or k != "name"}
                for part in message["parts"]
            ],
        }
        for message in messages
    ]


@each_writer
def test_the_dialogue_is_read(writer: Writer) -> None:
    run = run_of(writer())
    assert [step.kind for step in run.steps] == ["request", "chat", "tool", "request", "chat"]
    first, called, used, second, answered = run.steps
    assert isinstance(first, RequestStep)
    assert isinstance(second, RequestStep)
    assert without_names(first.messages) == CURRENT_SENT[:2]
    assert without_names(second.messages) == CURRENT_SENT
    assert (first.new_from, second.new_from, second.model) == (0, 3, "gpt-4o")
    assert isinstance(called, ChatStep)
    assert called.tool_calls is not None
    [call] = called.tool_calls
    assert (call.id, call.name, call.arguments) == ("c1", "temperature", ARGUMENTS)
    assert isinstance(used, ToolStep)
    assert (used.name, used.arguments, used.result) == ("temperature", ARGUMENTS, RESULT)
    assert isinstance(answered, ChatStep)
    assert (answered.content, run.content) == (ANSWER, ANSWER)
    assert [step.round for step in run.steps] == [1, 1, 1, 2, 2]


@each_writer
def test_the_run_is_told_as_our_own(writer: Writer) -> None:
    run = run_of(writer())
    assert run.run_id == f"{TRACE}-{1:016x}"
    assert (run.outcome, run.rounds, run.tool_calls) == ("completed", 2, 1)
    assert (run.usage.input_tokens, run.usage.output_tokens) == (60, 10)
    assert (run.started_at, run.duration_ms) == (1_000_000_000, 100.0)
    assert {"max_rounds", "parts"} <= {m.field for m in run.missing if m.why == "not_recorded"}
    assert findings(run) == ()


def test_what_only_some_tell() -> None:
    priced = [run_of(writer()).cost_usd for writer in (openinference, langfuse, pydantic_ai)]
    assert priced == [0.02, 0.02, 0.02]
    assert run_of(openllmetry()).cost_usd is None
    named = [run_of(w()).configuration for w in (openinference, openllmetry, pydantic_ai)]
    assert named == ["w", "w", "w"]
    [_, chat, *_] = run_of(vercel()).steps
    assert isinstance(chat, ChatStep)
    assert chat.time_to_first_chunk_ms == 250.0
    [_, chat, *_] = run_of(langfuse()).steps
    assert isinstance(chat, ChatStep)
    assert (chat.usage.input_tokens, chat.usage.cache_read_input_tokens) == (20, 4)
    for writer in (openinference, openllmetry):
        [request, *_] = run_of(writer()).steps
        assert isinstance(request, RequestStep)
        assert request.tools is not None
        assert [tool["name"] for tool in request.tools] == ["temperature"]
        assert request.provider == "openai"


def test_a_trace_without_an_agent_is_a_run_by_itself() -> None:
    spans = [replace(span, parent_id=None) for span in openinference()[1:]]
    run = run_of(spans)
    assert run.run_id == TRACE
    assert (run.outcome, run.rounds) == ("completed", 2)
    assert (run.started_at, run.duration_ms) == (2_000_000_000, 2100.0)
    assert run.cost_usd == 0.02


def test_the_nearest_agent_is_the_run() -> None:
    outer = pydantic_ai()
    inner = [
        replace(
            span,
            span_id=f"{int(span.span_id or '0', 16) + 16:016x}",
            parent_id=f"{17:016x}" if span.parent_id else f"{3:016x}",
            started_at=span.started_at + 1,
        )
        for span in openinference()
    ]
    runs = read_runs([*outer, *inner])
    assert [run.run_id for run in runs] == [f"{TRACE}-{1:016x}", f"{TRACE}-{17:016x}"]
    assert [run.rounds for run in runs] == [2, 2]


def test_spans_between_an_agent_and_its_calls_do_not_matter() -> None:
    agent, first, tool, second = openinference()
    between = record(9, "GET /", {"http.request.method": "GET"}, parent=1)
    below = [replace(span, parent_id=between.span_id) for span in (first, tool, second)]
    assert run_of([agent, between, *below]).run_id == f"{TRACE}-{1:016x}"
    assert run_of([agent, *below]).run_id == f"{TRACE}-{1:016x}"  # it was not kept


def test_pi_01_a_call_that_two_instrumentations_tell_of_counts_once() -> None:
    """PI-01: a framework's span, and below it that of an instrumented SDK, for one call."""
    agent, first, tool, second = pydantic_ai()
    sdk = openllmetry()
    inner = [
        replace(sdk[1], span_id=f"{20:016x}", parent_id=first.span_id),
        replace(sdk[3], span_id=f"{21:016x}", parent_id=f"{22:016x}"),
        record(22, "POST", {"http.request.method": "POST"}, parent=4),
    ]
    run = run_of([agent, first, tool, second, *inner])
    assert run == run_of([agent, first, tool, second])


def test_a_failed_call_says_how() -> None:
    agent, first, *_ = openllmetry()
    event = SpanEvent("exception", 0, {"exception.type": "openai.RateLimitError"})
    run = run_of([agent, replace(first, status="error", events=(event,))])
    [_, chat] = run.steps
    assert (chat.state, chat.error and chat.error.type) == ("error", "openai.RateLimitError")
    run = run_of([replace(first, status="error")])
    assert (run.outcome, run.error and run.error.type) == ("error", "_OTHER")


def test_what_was_not_captured_says_so() -> None:
    bare = [
        replace(
            span,
            attributes={k: v for k, v in span.attributes.items() if "message" not in k},
        )
        for span in pydantic_ai()
    ]
    [request, chat, *_] = run_of(bare).steps
    assert isinstance(request, RequestStep)
    assert request.messages is None
    assert {m.field: m.why for m in request.missing}["messages"] == "not_captured"
    assert {m.field: m.why for m in chat.missing}["content"] == "not_captured"


@each_writer
def test_pg_06_what_a_backend_has_cut_is_no_empty_message(writer: Writer) -> None:
    """PG-06: messages that cannot be parsed, foreign or cut."""
    cut = [
        replace(
            span,
            attributes={
                k: v[: len(v) // 2] if isinstance(v, str) and v[:1] in "[{" else v
                for k, v in span.attributes.items()
            },
            events=(),
        )
        for span in writer()
    ]
    run = run_of(cut)
    for step in run.steps:
        if isinstance(step, RequestStep):
            assert step.messages is None or all(m["parts"] for m in step.messages)
        if isinstance(step, RequestStep) and step.messages is None:
            assert any(m.field == "messages" for m in step.missing)


def test_messages_that_were_cut_are_unparsable_with_their_text() -> None:
    agent, first, *_ = pydantic_ai()
    told = {**first.attributes, "gen_ai.input.messages": '[{"role": "user", "parts": [{"ty'}
    [request, _] = run_of([agent, replace(first, attributes=told)]).steps
    assert {m.field: m.why for m in request.missing}["messages"] == "unparsable"


def test_an_edited_history_begins_anew() -> None:
    agent, first, tool, second = pydantic_ai()
    other = [{"role": "user", "parts": [{"type": "text", "content": "Something else?"}]}]
    told = {**second.attributes, "gen_ai.input.messages": json.dumps(other)}
    told.pop("gen_ai.system_instructions")
    run = run_of([agent, first, tool, replace(second, attributes=told)])
    request = run.steps[3]
    assert isinstance(request, RequestStep)
    assert (request.new_from, list(request.messages or ())) == (0, other)


def test_the_calls_own_words_are_kept_in_order() -> None:
    [_, call, *_] = run_of(details_event()).steps
    assert isinstance(call, ChatStep)
    assert call.tool_calls is not None
    assert call.tool_calls[0].arguments == CURRENT_CALL["arguments"]
    assert call.finish_reason == "tool_call"


ODD = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "chat", "LLM", "[", "{}", "[1]", '[{"role": 3}]', '[{"parts": 7}]'])
    | st.sampled_from(['{"messages": 1}', '{"messages": [null]}', '[{"parts": [null, 1, [2]]}]'])
    | st.sampled_from(['{"role": "tool", "id": 1, "content": {"type": []}}', '["x"]', '"y"'])
    | st.lists(st.integers() | st.text(max_size=3), max_size=3)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
)
NAMES = sorted(
    {
        *MARKERS,
        *ALIASES,
        *(other for others in ALIASES.values() for other in others),
        *KINDS,
        *(name for writer in WRITERS for span in writer() for name in span.attributes),
        "gen_ai.prompt.x.0.role",
        "gen_ai.prompt.0",
        "llm.input_messages.0.message.contents.0.message_content.type",
        "llm.tools.0",
        "ai.prompt.tools",
        "langfuse.observation.usage_details",
        "langfuse.observation.model.parameters",
        "langfuse.observation.completion_start_time",
        "llm.invocation_parameters",
        "model_request_parameters",
    }
)


@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), ODD, max_size=8), min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(["gen_ai.event.content", "gen_ai.prompt", "content"]), ODD),
)
def test_whatever_spans_tell_they_are_read(many: list[dict[str, Any]], told: Any) -> None:
    events = [("gen_ai.choice", told), ("gen_ai.user.message", told)]
    spans = [
        record(n, "agent run" if n == 1 else "s", attributes, parent=n - 1 or None, events=events)
        for n, attributes in enumerate(many, 1)
    ]
    for run in read_runs(spans):
        assert run.model_dump(mode="json")["run_id"].startswith(TRACE)
        assert findings(run) is not None


@each_writer
def test_each_field_that_nobody_told_has_a_reason(writer: Writer) -> None:
    """A run's and a step's `None`, but for what is `None` because it did not happen."""
    run = run_of(writer())
    named = {"provider", "model", "response_model", "finish_reason", "finish_reason_raw"}
    named |= {"tool_call_id", "configuration", "max_rounds", "parts", "cost_usd", "content"}
    for told in (run, *run.steps):
        empty = {name for name, value in told if value is None} & named
        assert empty == {m.field for m in told.missing} & named

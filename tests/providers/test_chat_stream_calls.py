"""Calls in streams of the chat-completions family."""

from typing import Any

import pytest

from loopspan.messages import Text, ToolCall
from loopspan.providers.openai import OpenAI
from tests import corpus
from tests.providers.chat import call_delta, delta, sse


def calls_of(*deltas: dict[str, Any]) -> list[ToolCall]:
    """The calls that these deltas of calls come to."""
    chunks = [*(delta(tool_calls=[d]) for d in deltas), delta("tool_calls")]
    return list(corpus.read_stream(OpenAI(), [sse(chunks)]).message.tool_calls)


def test_tc01_deltas_that_alternate_between_two_calls() -> None:
    pieces = [("{", "{"), ('"a"', '"b"'), (": 1", ": 2"), ("}", "}")]
    deltas = [
        call_delta(0, id="one", name="f", arguments=""),
        call_delta(1, id="two", name="g", arguments=""),
    ]
    for first, second in pieces:
        deltas += [call_delta(0, arguments=first), call_delta(1, arguments=second)]
    one, two = calls_of(*deltas)
    assert (one.id, one.name, one.arguments) == ("one", "f", {"a": 1})
    assert (two.id, two.name, two.arguments) == ("two", "g", {"b": 2})


def test_calls_of_two_choices_with_one_id_are_two_calls() -> None:
    call = call_delta(0, id="same", name="f", arguments="{}")
    chunks = [
        delta("tool_calls", tool_calls=[call]),
        delta("tool_calls", index=1, tool_calls=[{**call, "function": {"name": "g"}}]),
    ]
    reply = corpus.read_stream(OpenAI(), [sse(chunks)])
    assert [choice.message.tool_calls[0].name for choice in reply.choices] == ["f", "g"]


def test_index_zero_for_each_call_is_two_calls_where_id_and_name_are_new() -> None:
    one, two = calls_of(
        call_delta(0, id="one", name="f", arguments='{"a":'),
        call_delta(0, arguments="1}"),
        call_delta(0, id="two", name="f", arguments='{"a":'),
        call_delta(0, arguments="2}"),
    )
    assert (one.id, one.arguments) == ("one", {"a": 1})
    assert (two.id, two.arguments) == ("two", {"a": 2})


def test_an_id_that_is_repeated_is_the_same_call() -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f", arguments='{"a":'),
        call_delta(0, id="one", name="f", arguments="1}"),
    )
    assert (call.name, call.arguments) == ("f", {"a": 1})


def test_a_new_id_without_a_name_goes_on_with_its_index() -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f", arguments='{"a":'),
        call_delta(0, id="chunk-2", arguments="1}"),
    )
    assert (call.id, call.arguments) == ("one", {"a": 1})


def test_without_an_index_the_id_tells_the_call() -> None:
    one, two = calls_of(
        call_delta(None, id="one", name="f", arguments=""),
        call_delta(None, id="two", name="g", arguments="{}"),
        call_delta(None, id="one", arguments='{"a":1}'),
    )
    assert (one.arguments, two.arguments) == ({"a": 1}, {})


def test_without_index_and_id_the_last_call_goes_on() -> None:
    one, two = calls_of(
        call_delta(None, id="one", name="f", arguments="{}"),
        call_delta(None, id="two", name="g", arguments=""),
        call_delta(None, name="", arguments='{"b":2}'),
    )
    assert (one.arguments, two.arguments) == ({}, {"b": 2})


def test_without_index_and_id_another_name_is_another_call() -> None:
    one, two = calls_of(
        call_delta(None, name="f", arguments="{}"), call_delta(None, name="g", arguments="{}")
    )
    assert (one.name, two.name) == ("f", "g")


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_name_or_id_overwrites_nothing(nothing: str | None) -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f", arguments=""),
        call_delta(0, id=nothing, name=nothing, arguments='{"a":1}'),
    )
    assert (call.id, call.name, call.arguments) == ("one", "f", {"a": 1})


@pytest.mark.parametrize("arguments", [[""], ["null"], [None], [], ["", "{}"]])
def test_tc02_a_call_without_arguments_streams_an_empty_object(arguments: list[Any]) -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f"), *(call_delta(0, arguments=a) for a in arguments)
    )
    assert call.arguments == {}


def test_null_for_calls_says_nothing() -> None:
    chunks = [delta(content="Hi", tool_calls=None), delta("stop", tool_calls=None)]
    assert corpus.read_stream(OpenAI(), [sse(chunks)]).message.parts == (Text("Hi"),)


def test_a_legacy_function_call_streams() -> None:
    chunks = [
        delta(function_call={"name": "f", "arguments": ""}),
        delta(function_call={"arguments": '{"a":1}'}),
        delta("function_call"),
    ]
    reply = corpus.read_stream(OpenAI(), [sse(chunks)])
    (call,) = reply.message.tool_calls
    assert (call.name, call.arguments, reply.finish_reason) == ("f", {"a": 1}, "tool_call")


def test_a_custom_tool_call_streams() -> None:
    (call,) = calls_of(
        {"index": 0, "id": "one", "type": "custom", "custom": {"name": "sql", "input": ""}},
        {"index": 0, "custom": {"input": "select"}},
        {"index": 0, "custom": {"input": " 1"}},
    )
    assert (call.name, call.arguments) == ("sql", "select 1")

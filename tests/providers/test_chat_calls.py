"""Calls and their results in the chat-completions family, in both directions."""

from typing import Any

import pytest

from loopspan.messages import (
    Message,
    Text,
    ToolCall,
    ToolCallResponse,
    user,
)
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.openai import OpenAI
from tests.providers import chat
from tests.providers.chat import again, call_delta, parts, plain, wire


@pytest.mark.parametrize("arguments", ["", "null", None, " "])
@chat.each_adapter
def test_tc02_a_call_without_arguments_has_an_empty_object(
    adapter: ChatCompletions, arguments: str | None
) -> None:
    (call,) = parts(adapter, tool_calls=[call_delta(0, id="a", name="f", arguments=arguments)])
    assert isinstance(call, ToolCall)
    assert call.arguments == {}


@chat.each_adapter
def test_tc02_arguments_that_are_left_out_are_an_empty_object(adapter: ChatCompletions) -> None:
    (call,) = parts(adapter, tool_calls=[call_delta(0, id="a", name="f")])
    assert isinstance(call, ToolCall)
    assert call.arguments == {}


@pytest.mark.parametrize(
    ("answered", "sent"),
    [
        ('{"a":1}', '{"a":1}'),
        ('{"a": 1}', '{"a": 1}'),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("{'a': 1}", "{'a': 1}"),
        ("null", "null"),
        ("", "{}"),
        (None, "{}"),
        ({"a": 1}, '{"a":1}'),
    ],
)
def test_arguments_go_back_byte_for_byte_unless_they_are_no_text(answered: Any, sent: str) -> None:
    call = call_delta(0, id="a", name="f", arguments=answered)
    message = OpenAI().reply(plain(tool_calls=[call])).message
    assert wire(message)[0]["tool_calls"][0]["function"]["arguments"] == sent


@pytest.mark.parametrize("arguments", ["", "null", None, "{'a': 1}", '{"a": 1}', {"a": 1}, '"x"'])
def test_arguments_of_a_request_go_back_as_they_came(arguments: Any) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    message = {"role": "assistant", "tool_calls": [call]}
    assert again(message) == [message]


def test_details_of_a_call_are_sent_again() -> None:
    google = {"google": {"thought_signature": "s"}}  # Gemini behind the OpenAI format
    call = {**call_delta(0, id="a", name="f", arguments="{}"), "extra_content": google}
    (sent,) = wire(OpenAI().reply(plain(tool_calls=[call])).message)
    assert sent["tool_calls"][0] == {
        "id": "a",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": google,
    }


def test_a_legacy_function_call_and_its_result() -> None:
    call = {"name": "f", "arguments": '{"a": 1}'}
    message = (
        OpenAI().reply(plain(finish="function_call", content=None, function_call=call)).message
    )
    (part,) = message.tool_calls
    assert (part.name, part.arguments, part.id) == ("f", {"a": 1}, None)
    result = Message("tool", (ToolCallResponse("12", None, "f"),))
    assert wire(message, result) == [
        {"role": "assistant", "function_call": call},
        {"role": "function", "name": "f", "content": "12"},
    ]


def test_a_call_that_is_told_in_both_forms_is_made_once() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    twice = {"function_call": call["function"], "tool_calls": [call]}
    answer = OpenAI().reply(plain(finish="tool_calls", content=None, **twice))
    assert [part.id for part in answer.message.tool_calls] == ["a"]
    assert wire(answer.message) == [{"role": "assistant", "tool_calls": [call]}]
    body = {"model": "m", "messages": [{"role": "assistant", **twice}]}
    request = OpenAI().request(body)
    assert len(request.messages[0].tool_calls) == 1
    assert OpenAI().body(request) == body


def test_a_call_without_an_id_is_answered_by_name() -> None:
    message = OpenAI().reply(plain(tool_calls=[call_delta(0, name="f", arguments="{}")])).message
    result = Message("tool", (ToolCallResponse("12", None, "f"),))
    assert wire(message, result)[1] == {"role": "tool", "name": "f", "content": "12"}


def test_a_custom_call_has_free_text() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    message = OpenAI().reply(plain(content=None, tool_calls=[call])).message
    (part,) = message.tool_calls
    assert (part.name, part.arguments, part.id) == ("sql", "select 1", "a")
    assert wire(message) == [{"role": "assistant", "tool_calls": [call]}]


def test_a_call_of_unknown_kind_stays_in_its_place() -> None:
    call = {"id": "a", "type": "teleport", "teleport": {"to": "Oslo"}}
    message = OpenAI().reply(plain(content=None, tool_calls=[call])).message
    assert message.tool_calls == ()
    assert wire(message) == [{"role": "assistant", "tool_calls": [call]}]


@pytest.mark.parametrize(
    ("response", "content"), [("12", "12"), ({"a": 1}, '{"a":1}'), (None, "null"), ([1], "[1]")]
)
def test_a_result_is_sent_as_text(response: Any, content: str) -> None:
    result = Message("tool", (ToolCallResponse(response, "a", "f", is_error=True),))
    assert wire(result) == [{"role": "tool", "tool_call_id": "a", "content": content}]


def test_results_in_one_message_are_sent_one_by_one_before_its_text() -> None:
    message = user(ToolCallResponse("1", "a"), Text("and"), ToolCallResponse("2", "b"))
    assert wire(message) == [
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "user", "content": "and"},
    ]

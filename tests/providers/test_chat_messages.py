"""Messages of the chat-completions family, in both directions."""

from typing import Any

import pytest

from loopspan.messages import (
    Generic,
    Message,
    Reasoning,
    Text,
    assistant,
    system,
    user,
)
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.openai import OpenAI
from tests.providers import chat
from tests.providers.chat import again, parts, plain, wire

# Text


def test_roles_and_names_are_kept() -> None:
    messages = [
        system("Be."),
        Message("developer", (Text("Do."),)),
        Message("user", (Text("?"),), "Al"),
    ]
    assert wire(*messages) == [
        {"role": "system", "content": "Be."},
        {"role": "developer", "content": "Do."},
        {"role": "user", "content": "?", "name": "Al"},
    ]


def test_several_texts_are_a_list() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert wire(user("a", "b")) == [{"role": "user", "content": content}]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "assistant", "content": "", "refusal": "No."},
        {"role": "assistant", "content": "a", "prefix": True},
        {"role": "assistant", "audio": {"id": "a1"}},
        {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nHi"},
        {"role": "assistant", "content": "<think>\n</think>\n\nHi"},
        {"role": "assistant", "content": "a", "reasoning_content": ""},
        {"role": "assistant", "content": "a", "reasoning": "b", "reasoning_content": "b"},
        {"role": "assistant", "content": "a", "reasoning": "b", "reasoning_content": "c"},
        {"role": "assistant", "content": "a", "reasoning_details": []},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}]},
        {"role": "tool", "tool_call_id": "1", "name": "f", "content": "a", "cache_control": {}},
        {"role": "function", "name": "f", "content": "a"},
    ],
    ids=str,
)
def test_a_message_of_each_form_goes_back_as_it_came(message: dict[str, Any]) -> None:
    assert again(message) == [message]


def test_an_empty_list_of_parts_is_an_empty_text() -> None:
    assert again({"role": "user", "content": []}) == [{"role": "user", "content": ""}]


@chat.each_adapter
def test_as06_an_unknown_part_stays_in_its_place(adapter: ChatCompletions) -> None:
    hologram = {"type": "hologram", "x": 1}
    content = [{"type": "text", "text": "a"}, hologram, {"type": "text", "text": "b"}]
    reply = adapter.reply(plain(content=content))
    assert reply.message.text == "ab"
    assert [part.type for part in reply.message.parts] == ["text", "hologram", "text"]
    unknown = reply.message.parts[1]
    assert isinstance(unknown, Generic)
    assert unknown.body == hologram
    assert wire(reply.message, adapter=adapter)[0]["content"] == content


def test_null_and_empty_text_of_an_answer_are_no_parts() -> None:
    assert parts(content=None) == parts(content="") == ()


def test_an_answer_without_a_message_is_empty() -> None:
    body = {"choices": [{"index": 0, "finish_reason": "content_filter"}]}  # Azure's filter
    reply = OpenAI().reply(body)
    assert (reply.message.parts, reply.finish_reason) == ((), "content_filter")


def test_lists_beside_the_text_of_an_answer_are_kept_and_not_sent_again() -> None:
    message = OpenAI().reply(plain(content="a", annotations=[{"x": 1}], index=0)).message
    assert message.parts == (Text("a"), Generic("annotations", [{"x": 1}]))
    assert wire(message) == [{"role": "assistant", "content": "a"}]


# Refusals and speech


def test_a_refusal_is_text_that_says_so() -> None:
    (part,) = parts(content=None, refusal="I cannot.")
    assert isinstance(part, Text)
    assert (part.content, part.own("openai")["field"]) == ("I cannot.", "refusal")
    assert wire(Message("assistant", (part,))) == [{"role": "assistant", "refusal": "I cannot."}]


def test_a_spoken_answer_is_sent_again_by_its_id() -> None:
    audio = {"id": "a1", "data": "AAAA", "transcript": "Hi", "expires_at": 1}
    message = OpenAI().reply(plain(content=None, audio=audio)).message
    assert message.text == "Hi"
    assert [part.type for part in message.parts] == ["text", "blob"]
    assert wire(message) == [{"role": "assistant", "audio": {"id": "a1"}}]


# Thinking


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_goes_back_in_its_field(field: str) -> None:
    message = OpenAI().reply(plain(content="Hi", **{field: "Hm."})).message
    assert (message.reasoning, message.text) == ("Hm.", "Hi")
    assert wire(message) == [{"role": "assistant", "content": "Hi", field: "Hm."}]


def test_thinking_in_two_fields_alike_is_one_part() -> None:
    message = OpenAI().reply(plain(content="Hi", reasoning="Hm.", reasoning_content="Hm.")).message
    assert message.reasoning == "Hm."


@chat.each_adapter
def test_thinking_of_other_providers_is_not_sent(adapter: ChatCompletions) -> None:
    foreign = Reasoning("secret", extra={"anthropic": {"signature": "s"}})
    (sent,) = wire(assistant(foreign, Reasoning("bare"), "Hi"), adapter=adapter)
    assert sent == {"role": "assistant", "content": "Hi"}


@chat.each_adapter
def test_inline_thinking_is_told_apart_and_goes_back_as_it_came(adapter: ChatCompletions) -> None:
    content = "<think>\nHm.\n</think>\n\nHi"
    message = adapter.reply(plain(content=content)).message
    assert (message.reasoning, message.text) == ("Hm.", "Hi")
    assert wire(message, adapter=adapter) == [{"role": "assistant", "content": content}]


def test_inline_thinking_without_an_answer_goes_back_too() -> None:
    message = OpenAI().reply(plain(content="<think>Hm", finish="length")).message
    assert wire(message) == [{"role": "assistant", "content": "<think>Hm"}]


def test_a_tag_in_what_a_user_says_is_text() -> None:
    request = OpenAI().request(
        {"model": "m", "messages": [{"role": "user", "content": "<think>a</think>b"}]}
    )
    assert request.messages == (user("<think>a</think>b"),)

"""Messages of the chat-completions family, in both directions."""

from typing import Any

import pytest

from loopspan.errors import UnsupportedContent
from loopspan.messages import (
    Blob,
    File,
    Generic,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallResponse,
    Uri,
    assistant,
    system,
    user,
)
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.openai import OpenAI
from tests.providers import chat
from tests.providers.chat import call_delta, plain


def wire(*messages: Message, adapter: ChatCompletions | None = None) -> list[Any]:
    """The messages as they are sent."""
    sent: list[Any] = (adapter or OpenAI()).body(chat.ask(*messages))["messages"]
    return sent


def parts(adapter: ChatCompletions | None = None, **message: Any) -> tuple[Part, ...]:
    """The parts of an answer."""
    return (adapter or OpenAI()).reply(plain(**message)).message.parts


def again(*messages: dict[str, Any]) -> list[Any]:
    """Wire messages, read and written again."""
    return wire(*OpenAI().request({"model": "m", "messages": list(messages)}).messages)


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


# Calls


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


# Media


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (
            Blob("image", "AAAA", "image/png"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ),
        (
            Uri("image", "https://example.org/1"),
            {"type": "image_url", "image_url": {"url": "https://example.org/1"}},
        ),
        (
            Blob("audio", "AAAA", "audio/x-wav"),
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ),
        (
            Blob("document", "AAAA", "application/pdf"),
            {
                "type": "file",
                "file": {
                    "file_data": "data:application/pdf;base64,AAAA",
                    "filename": "document.pdf",
                },
            },
        ),
        (File("document", "f1"), {"type": "file", "file": {"file_id": "f1"}}),
    ],
)
def test_media_are_written(part: Part, sent: dict[str, Any]) -> None:
    assert wire(user(part)) == [{"role": "user", "content": [sent]}]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://h/1"}, "cache_control": {}},
        {"type": "image_url", "image_url": "https://h/1"},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3Csvg"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "x-new"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav", "id": 1}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}},
        {
            "type": "file",
            "file": {"file_data": "data:text/plain;base64,AAAA", "filename": "a.txt"},
        },
        {"type": "file", "file": {"file_id": "f1", "format": "pdf"}},
        {"type": "file", "file": {"file_data": "https://h/1.pdf"}},
    ],
    ids=str,
)
def test_media_of_each_form_go_back_as_they_came(part: dict[str, Any]) -> None:
    message = {"role": "user", "content": [part]}
    assert again(message) == [message]


@pytest.mark.parametrize(
    "part",
    [
        Blob("video", "AAAA", "video/mp4"),
        Uri("audio", "https://example.org/1"),
        Uri("document", "https://example.org/1"),
        File("image", "f1"),
    ],
)
def test_media_that_are_not_taken_are_refused_with_advice(part: Blob | Uri | File) -> None:
    with pytest.raises(UnsupportedContent, match=f"openai takes no '{part.type}'.*{part.modality}"):
        wire(user(part))


def test_a_blob_without_a_media_type_is_refused_with_advice() -> None:
    with pytest.raises(UnsupportedContent, match="mime_type"):
        wire(user(Blob("image", "AAAA")))


def test_an_unknown_part_of_a_user_is_refused_with_advice() -> None:
    with pytest.raises(UnsupportedContent, match="'hologram'"):
        wire(user(Generic("hologram", {"x": 1})))


def test_an_unknown_part_of_another_providers_answer_is_left_out() -> None:
    foreign = Generic("server_tool_use", {"id": "s"}, extra={"anthropic": {}})
    assert wire(assistant(foreign, "Hi")) == [{"role": "assistant", "content": "Hi"}]

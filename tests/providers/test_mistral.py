"""Mistral's chat completions."""

from typing import Any

import pytest

from loopspan.errors import AuthenticationError, InvalidRequestError
from loopspan.messages import Blob, File, Parameters, Reasoning, Text, ToolDefinition, Uri, user
from loopspan.providers.mistral import Mistral
from tests import corpus
from tests.corpus import exchange
from tests.providers import chat
from tests.providers.chat import call_delta, delta, plain, sse


def thinking(*texts: str, **fields: Any) -> dict[str, Any]:
    """A thinking part of the content."""
    return {"type": "thinking", "thinking": [{"type": "text", "text": t} for t in texts], **fields}


def test_settings_have_names_of_mistrals_own() -> None:
    settings = Parameters(seed=1, max_tokens=5, reasoning_level="high")
    body = Mistral().body(chat.ask(user("?"), parameters=settings))
    assert (body["random_seed"], body["max_tokens"], body["reasoning_effort"]) == (1, 5, "high")


def test_a_call_is_required_by_the_word_any() -> None:
    request = chat.ask(user("?"), tools=(ToolDefinition("f"),), tool_choice="required")
    body = Mistral().body(request)
    assert body["tool_choice"] == "any"
    assert Mistral().request(body) == request


def test_the_other_word_for_a_required_call_goes_back_as_it_came() -> None:
    body = Mistral().body(chat.ask(user("?"), tools=(ToolDefinition("f"),)))
    body["tool_choice"] = "required"
    request = Mistral().request(body)
    assert request.tool_choice == "required"
    assert Mistral().body(request) == body


# Thinking


def test_thinking_is_a_part_of_the_content_and_goes_back_there() -> None:
    content = [thinking("Hm.", closed=True), {"type": "text", "text": "Hi"}]
    message = Mistral().reply(plain(content=content)).message
    assert (message.reasoning, message.text) == ("Hm.", "Hi")
    assert Mistral().body(chat.ask(message))["messages"] == [
        {"role": "assistant", "content": content}
    ]


@pytest.mark.parametrize(
    "part",
    [
        thinking("a", "b"),
        thinking(signature="s"),
        thinking("a", closed=False),
        {"type": "thinking", "thinking": [{"type": "reference", "reference_ids": [1]}]},
        {"type": "thinking", "thinking": "a"},
    ],
    ids=str,
)
def test_thinking_of_each_form_goes_back_as_it_came(part: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [{"role": "assistant", "content": [part]}]}
    assert Mistral().body(Mistral().request(body)) == body


def test_thinking_of_other_providers_is_not_sent() -> None:
    message = chat.ask(user("?")).messages[0]
    foreign = Reasoning("Hm.", extra={"openai": {"fields": ["reasoning_content"]}})
    sent = Mistral().body(chat.ask(message, type(message)("assistant", (foreign, Text("Hi")))))
    assert sent["messages"][1] == {"role": "assistant", "content": "Hi"}


def test_a_stream_goes_from_thinking_to_text() -> None:
    chunks = [
        delta(content=[thinking("Hm")]),
        delta(content=[thinking(", so")]),
        delta(content=[thinking(closed=True)]),
        delta(content=[{"type": "text", "text": "H"}]),
        delta(content="i"),
        delta("stop", content=""),
    ]
    reply, deltas = corpus.watch(Mistral(), [sse(chunks)])
    whole = [thinking("Hm, so", closed=True), {"type": "text", "text": "Hi"}]
    assert reply == Mistral().reply(plain(content=whole))
    assert [(d.type, d.content) for d in deltas] == [
        ("reasoning", "Hm"),
        ("reasoning", ", so"),
        ("text", "H"),
        ("text", "i"),
    ]


def test_thinking_after_thinking_that_is_over_is_a_part_of_its_own() -> None:
    chunks = [delta(content=[thinking("a", closed=True)]), delta("stop", content=[thinking("b")])]
    parts = corpus.read_stream(Mistral(), [sse(chunks)]).message.parts
    assert [part.content for part in parts if isinstance(part, Reasoning)] == ["a", "b"]


def test_a_stream_goes_from_text_to_a_list() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://h/1"}}
    chunks = [delta(content="See "), delta(content=[image]), delta("stop", content="there")]
    reply = corpus.read_stream(Mistral(), [sse(chunks)])
    parts = (Text("See "), Uri("image", "https://h/1"), Text("there"))
    assert reply.message.parts == parts


def test_recorded_thinking_is_one_part() -> None:
    reply = corpus.read(
        Mistral(), exchange("mistral/pydai-mistral-model-thinking-part-iter.json#0")
    )
    assert [part.type for part in reply.message.parts] == ["reasoning", "text"]
    assert reply.message.reasoning.startswith("Okay, the user is asking how to cross the street.")


# Calls


def test_a_recorded_call_that_is_split_keeps_id_and_name() -> None:
    answer = exchange("mistral/vercel-mistral-incremental-tool-call.json#0")
    (call,) = corpus.read(Mistral(), answer).message.tool_calls
    assert (call.id, call.name) == ("chatcmpl-tool-9f149c74c42f265b", "webSearchTool")
    assert call.arguments == {"query": "current Berlin weather"}


def test_an_id_that_is_the_word_null_is_none() -> None:
    chunks = [
        delta(tool_calls=[call_delta(0, id="null", name="f", arguments='{"a"')]),
        delta("tool_calls", tool_calls=[call_delta(0, id="abcdefghi", name="", arguments=":1}")]),
    ]
    (call,) = corpus.read_stream(Mistral(), [sse(chunks)]).message.tool_calls
    assert (call.id, call.arguments) == ("abcdefghi", {"a": 1})


# Media


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (
            Blob("document", "AAAA", "application/pdf"),
            {"type": "document_url", "document_url": "data:application/pdf;base64,AAAA"},
        ),
        (
            Uri("document", "https://h/1.pdf"),
            {"type": "document_url", "document_url": "https://h/1.pdf"},
        ),
        (
            Uri("audio", "https://h/1.mp3"),
            {"type": "input_audio", "input_audio": "https://h/1.mp3"},
        ),
        (File("document", "f1"), {"type": "file", "file_id": "f1"}),
        (Uri("image", "https://h/1"), {"type": "image_url", "image_url": {"url": "https://h/1"}}),
    ],
)
def test_media_have_forms_of_mistrals_own(part: Blob | Uri | File, sent: dict[str, Any]) -> None:
    request = chat.ask(user(part))
    body = Mistral().body(request)
    assert body["messages"] == [{"role": "user", "content": [sent]}]
    assert Mistral().request(body) == request


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": "https://h/1"},
        {"type": "document_url", "document_url": "https://h/1", "document_name": "a.pdf"},
        {"type": "document_url", "document_url": {"url": "https://h/1"}},
        {"type": "input_audio", "input_audio": "AAAA"},
    ],
    ids=str,
)
def test_media_of_each_form_go_back_as_they_came(part: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    assert Mistral().body(Mistral().request(body)) == body


# Usage and errors


def test_cached_tokens_have_two_names() -> None:
    usage = {"prompt_tokens": 9, "num_cached_tokens": 8}
    assert (
        Mistral().reply({**plain(content="a"), "usage": usage}).usage.cache_read_input_tokens == 8
    )


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"detail": "Invalid API Key"}, "Invalid API Key", None),
        ({"message": "Unauthorized", "request_id": "r"}, "Unauthorized", None),
        ({"detail": [{"msg": "no"}]}, '[{"msg":"no"}]', None),
        ({"object": "error", "message": "No", "type": "t", "code": "1500"}, "No", "1500"),
        ({"object": "error", "message": {"detail": []}, "type": "t"}, '{"detail":[]}', "t"),
        ({"error": {"message": "No", "type": "t"}}, "No", "t"),
    ],
)
def test_errors_have_three_shapes(body: Any, message: str, code: str | None) -> None:
    error = Mistral().error(401, body, {"Mistral-Correlation-Id": "c1"})
    assert isinstance(error, AuthenticationError)
    assert (error.message, error.code, error.request_id) == (message, code, "c1")


def test_a_flat_error_within_a_200_is_raised_with_its_status() -> None:
    body = {"object": "error", "message": "No", "type": "invalid_model", "raw_status_code": 400}
    with pytest.raises(InvalidRequestError):
        Mistral().reply(body)


def test_an_answer_with_a_message_of_its_own_is_no_error() -> None:
    assert Mistral().reply({**plain(content="a"), "message": "hello"}).message.text == "a"

"""Answers and errors as the Gemini adapter reads them."""

from typing import Any

import pytest

from loopspan.errors import (
    AuthenticationError,
    BadResponse,
    InvalidRequestError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from loopspan.messages import (
    Generic,
    Message,
    Text,
    Usage,
)
from tests.providers.test_gemini import ADAPTER, SIGNED, call, parts, reply


def test_as_06_part_of_an_unknown_kind_keeps_its_place_and_body() -> None:
    content = [{"text": "a"}, {"hologram": {"x": 1}, "thoughtSignature": "S"}, {"text": "b"}]
    message = reply(*content).message
    assert message.parts[1] == Generic("hologram", {"x": 1}, extra=SIGNED)
    assert message.text == "ab"
    assert parts(*message.parts, role="assistant") == content


def test_signature_stays_on_its_part() -> None:
    content = [
        {"text": "Hm.", "thought": True},
        call("add") | {"thoughtSignature": "A"},
        call("add"),
        {"text": "", "thoughtSignature": "B"},
    ]
    assert parts(*reply(*content).message.parts, role="assistant") == content


def test_empty_text_is_left_out_of_an_answer() -> None:
    content = [{"text": ""}, {"text": "", "thought": True}, {}, {"text": "a"}]
    assert reply(*content).message.parts == (Text("a"),)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("OTHER", "error"),
        ("LANGUAGE", "error"),
        ("NEW_WORD", "NEW_WORD"),
        (None, "error"),
    ],
)
def test_as_05_finish_reason(word: str | None, reason: str) -> None:
    choice = reply({"text": "a"}, finish=word).choices[0]
    assert (choice.finish_reason, choice.finish_reason_raw) == (reason, word)


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "stop"), (2, "length"), (9, "content_filter"), (10, "error")]
)
def test_as_05_finish_reason_as_a_number(number: int, reason: str) -> None:
    choice = reply({"text": "a"}, finish=number).choices[0]
    assert (choice.finish_reason, choice.finish_reason_raw) == (reason, str(number))


def test_as_05_malformed_call_without_content() -> None:
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(add(1"}
    found = ADAPTER.reply({"candidates": [candidate]})
    assert (found.finish_reason, found.message) == ("error", Message("assistant", ()))


def test_as_05_blocked_prompt() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "g"}
    found = ADAPTER.reply(blocked | {"usageMetadata": {"promptTokenCount": 4}})
    assert found.message == Message("assistant", ())
    assert (found.finish_reason, found.finish_reason_raw) == (
        "content_filter",
        "PROHIBITED_CONTENT",
    )
    assert found.usage == Usage(4)


def test_answer_of_nothing_is_in_error_and_keeps_its_usage() -> None:
    found = ADAPTER.reply({"usageMetadata": {"promptTokenCount": 4}, "responseId": "r"})
    assert (found.finish_reason, found.usage) == ("error", Usage(4))


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(BadResponse):
        ADAPTER.reply({"choices": []})


def test_each_candidate_is_a_choice() -> None:
    candidates = [
        {"index": n, "content": {"parts": [call("add")]}, "finishReason": "STOP"} for n in range(2)
    ]
    choices = ADAPTER.reply({"candidates": candidates}).choices
    assert len({c.id for choice in choices for c in choice.message.tool_calls}) == 2


def test_usage_adds_up_to_the_total() -> None:
    told = {
        "promptTokenCount": 25,
        "toolUsePromptTokenCount": 1130,
        "candidatesTokenCount": 49,
        "thoughtsTokenCount": 38,
        "cachedContentTokenCount": 5,
        "totalTokenCount": 1242,
    }
    usage = reply({"text": "a"}, usageMetadata=told).usage
    assert usage == Usage(1155, 87, 5, None, 38)
    assert usage.total_tokens == 1242


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({}, Usage()),
        ({"promptTokenCount": 0}, Usage(0)),
        ({"thoughtsTokenCount": 2}, Usage(None, 2, reasoning_output_tokens=2)),
        ({"candidatesTokenCount": 2}, Usage(None, 2)),
        ({"toolUsePromptTokenCount": 2}, Usage()),
        ({"promptTokenCount": "4", "candidatesTokenCount": True}, Usage()),
    ],
)
def test_what_usage_does_not_tell_is_unknown(told: dict[str, Any], usage: Usage) -> None:
    assert reply({"text": "a"}, usageMetadata=told).usage == usage


def test_ids_of_the_answer() -> None:
    found = reply({"text": "a"})
    assert (found.response_id, found.response_model) == ("r1", "gemini-x-1")


def failure(code: Any, status: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": "m", "status": status, "details": list(details)}}


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48.5s"}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("status", "word", "kind"),
    [
        (400, "INVALID_ARGUMENT", InvalidRequestError),
        (403, "PERMISSION_DENIED", AuthenticationError),
        (404, "NOT_FOUND", NotFoundError),
        (429, "RESOURCE_EXHAUSTED", RateLimitError),
        (503, "UNAVAILABLE", ServerError),
    ],
)
def test_error(status: int, word: str, kind: type[ProviderError]) -> None:
    error = ADAPTER.error(status, failure(status, word))
    assert type(error) is kind
    assert (error.status, error.code, error.message) == (status, word, "m")
    assert error.retry_after is None


def test_wrong_key_is_an_authentication_error_although_it_is_a_400() -> None:
    error = ADAPTER.error(400, failure(400, "INVALID_ARGUMENT", BAD_KEY))
    assert isinstance(error, AuthenticationError)
    assert (error.status, error.code) == (400, "INVALID_ARGUMENT")


def test_delay_of_a_limit_is_in_the_details() -> None:
    error = ADAPTER.error(429, failure(429, "RESOURCE_EXHAUSTED", {"x": 1}, RETRY))
    assert error.retry_after == 48.5


def test_error_may_stand_in_an_array() -> None:
    error = ADAPTER.error(404, [failure(404, "NOT_FOUND")])
    assert (type(error), error.code) == (NotFoundError, "NOT_FOUND")


@pytest.mark.parametrize("body", [[], [[]], "x", {"error": "x"}, {"error": {"details": 1}}])
def test_error_of_another_form_is_still_an_error(body: Any) -> None:
    assert type(ADAPTER.error(500, body)) is ServerError


def test_error_inside_a_200_is_raised() -> None:
    with pytest.raises(ServerError) as caught:
        ADAPTER.reply(failure(503, "UNAVAILABLE"))
    assert caught.value.code == "UNAVAILABLE"

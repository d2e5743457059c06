"""OpenRouter's chat completions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from loopspan.errors import BadResponse, RateLimitError
from loopspan.messages import Blob, Parameters, Uri, user
from loopspan.providers.openrouter import OpenRouter
from tests import corpus
from tests.corpus import exchange
from tests.providers import chat
from tests.providers.chat import delta, plain, sse

# Settings


def test_the_level_of_reasoning_is_an_object() -> None:
    request = chat.ask(user("?"), parameters=Parameters(reasoning_level="high"))
    body = OpenRouter().body(request)
    assert body["reasoning"] == {"effort": "high"}
    assert OpenRouter().request(body) == request


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({"reasoning": {"max_tokens": 1024}}, None),
        ({"reasoning": {"effort": "low", "exclude": True}}, "low"),
        ({"reasoning_effort": "low"}, "low"),
        ({"max_completion_tokens": 5}, None),
    ],
)
def test_other_forms_of_a_setting_go_back_as_they_came(
    fields: dict[str, Any], level: str | None
) -> None:
    body = {"model": "m", "messages": [], **fields}
    request = OpenRouter().request(body)
    assert request.parameters.reasoning_level == level
    assert OpenRouter().body(request) == body


# Why an answer ended


@pytest.mark.parametrize(
    ("word", "native", "reason", "raw"),
    [
        ("tool_calls", "length", "length", "length"),
        ("stop", "MAX_TOKENS", "length", "MAX_TOKENS"),
        ("length", "max_output_tokens", "length", "length"),
        ("tool_calls", "STOP", "tool_call", "tool_calls"),
        ("stop", "end_turn", "stop", "stop"),
        ("stop", None, "stop", "stop"),
        ("content_filter", "SAFETY", "content_filter", "content_filter"),
    ],
)
def test_the_upstream_word_wins_where_it_tells_a_cut(
    word: str, native: str | None, reason: str, raw: str
) -> None:
    body = plain(content="a", finish=word)
    body["choices"][0]["native_finish_reason"] = native
    reply = OpenRouter().reply(body)
    assert (reply.finish_reason, reply.finish_reason_raw) == (reason, raw)


def test_ll01_a_recorded_cut_call_that_claims_to_be_whole() -> None:
    name = "openrouter/rig-tool-truncation-contract-matrix-streaming-gpt4o-low-model.json#0"
    reply = corpus.read(OpenRouter(), exchange(name))
    (call,) = reply.message.tool_calls
    assert isinstance(call.arguments, str)
    assert (reply.finish_reason, reply.finish_reason_raw) == ("length", "length")


# Thinking


def test_recorded_details_of_thinking_are_sent_again() -> None:
    name = "openrouter/fantasy-openroutercommon-gemini-tool-streaming.json"
    reply = corpus.read(OpenRouter(), exchange(f"{name}#0"))
    (sent,) = OpenRouter().body(chat.ask(reply.message))["messages"]
    later = exchange(f"{name}#1").request["messages"]
    (details,) = [m["reasoning_details"] for m in later if "reasoning_details" in m]
    assert sent["reasoning_details"] == details


def test_a_recorded_signature_is_sent_again() -> None:
    name = "openrouter/rig-reasoning-tool-order-matrix-blocking-signed-agent-roundtrip.json#0"
    reply = corpus.read(OpenRouter(), exchange(name))
    (sent,) = OpenRouter().body(chat.ask(reply.message))["messages"]
    (detail,) = sent["reasoning_details"]
    assert (detail["signature"], detail["text"]) == ("signature_REDACTED_1", sent["reasoning"])


def test_fragments_of_details_are_merged_by_index_and_type() -> None:
    text = {"type": "reasoning.text", "index": 0}
    chunks = [
        delta(reasoning="Hm", reasoning_details=[{**text, "text": "Hm", "signature": None}]),
        delta(reasoning=".", reasoning_details=[{**text, "text": "."}]),
        delta(reasoning_details=[{**text, "signature": "s", "text": ""}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 0, "data": "x"}]),
        delta(reasoning_details=[{"type": "reasoning.summary", "index": 1, "summary": "a"}]),
        delta(
            "stop", reasoning_details=[{"type": "reasoning.summary", "index": 1, "summary": "b"}]
        ),
    ]
    message = corpus.read_stream(OpenRouter(), [sse(chunks)]).message
    assert message.reasoning == "Hm."
    assert message.parts[0].own("openrouter")["details"] == [
        {**text, "text": "Hm.", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 0, "data": "x"},
        {"type": "reasoning.summary", "index": 1, "summary": "ab"},
    ]


def test_details_without_a_text_beside_them_are_thinking() -> None:
    details = [{"type": "reasoning.summary", "summary": "Hm."}, {"type": "reasoning.encrypted"}]
    message = OpenRouter().reply(plain(content="Hi", reasoning_details=details)).message
    assert (message.reasoning, message.text) == ("Hm.", "Hi")
    (sent,) = OpenRouter().body(chat.ask(message))["messages"]
    assert sent == {"role": "assistant", "content": "Hi", "reasoning_details": details}


# What is around text


def test_annotations_are_sent_again() -> None:
    notes = [{"type": "file", "file": {"hash": "h"}}]
    message = OpenRouter().reply(plain(content="a", annotations=notes)).message
    (sent,) = OpenRouter().body(chat.ask(message))["messages"]
    assert sent == {"role": "assistant", "content": "a", "annotations": notes}


def test_images_of_an_answer_are_blobs_and_are_sent_again() -> None:
    images = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}, "index": 0}]
    message = OpenRouter().reply(plain(content="a", images=images)).message
    (blob,) = [part for part in message.parts if isinstance(part, Blob)]
    assert (blob.modality, blob.content, blob.mime_type) == ("image", "AAAA", "image/png")
    (sent,) = OpenRouter().body(chat.ask(message))["messages"]
    assert sent == {"role": "assistant", "content": "a", "images": images}


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (
            Uri("document", "https://h/1.pdf"),
            {"type": "file", "file": {"file_data": "https://h/1.pdf"}},
        ),
        (Uri("video", "https://h/1"), {"type": "video_url", "video_url": {"url": "https://h/1"}}),
        (
            Blob("video", "AAAA", "video/mp4"),
            {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}},
        ),
    ],
)
def test_media_of_openrouters_own(part: Blob | Uri, sent: dict[str, Any]) -> None:
    request = chat.ask(user(part))
    body = OpenRouter().body(request)
    assert body["messages"] == [{"role": "user", "content": [sent]}]
    assert OpenRouter().request(body) == request


# Cost


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.00123}, 0.00123),
        ({"cost": 0}, 0),
        ({"cost": 0.1, "is_byok": True, "cost_details": {"upstream_inference_cost": 2}}, 2.1),
        ({"cost": 0.1, "is_byok": False, "cost_details": {"upstream_inference_cost": 2}}, 0.1),
        ({"cost": 0.1, "is_byok": True, "cost_details": None}, 0.1),
        ({"cost": "free"}, None),
        ({"cost": True}, None),
        ({}, None),
    ],
)
def test_tk10_the_reported_cost_is_taken(usage: dict[str, Any], cost: float | None) -> None:
    assert OpenRouter().reply({**plain(content="a"), "usage": usage}).cost_usd == cost


# Errors


def test_a_recorded_error_within_a_stream_has_its_status() -> None:
    answer = exchange("openrouter/pydai-openrouter-stream-error.json#0")
    with pytest.raises(Exception, match="Token limit reached") as caught:
        corpus.read(OpenRouter(), answer)
    assert getattr(caught.value, "status", None) == 400


def test_a_rate_limit_within_a_stream_is_one() -> None:
    chunks = [delta(content="a"), {"error": {"code": 429, "message": "Slow down"}, "choices": []}]
    with pytest.raises(RateLimitError, match="Slow down"):
        corpus.read_stream(OpenRouter(), [sse(chunks)])


def test_an_error_within_a_choice_is_raised() -> None:
    body = plain(content="a", finish="error")
    body["choices"][0]["error"] = {"code": 502, "message": "Upstream broke"}
    with pytest.raises(Exception, match="Upstream broke") as caught:
        OpenRouter().reply(body)
    assert getattr(caught.value, "status", None) == 502


def test_a_code_that_is_no_status_is_a_bad_answer() -> None:
    with pytest.raises(BadResponse):
        OpenRouter().reply({"error": {"code": 7, "message": "?"}})


def test_a_recorded_error_tells_what_the_upstream_provider_said() -> None:
    answer = exchange("openrouter/pydai-openrouter-errors-raised.json#0")
    error = OpenRouter().error(answer.status, answer.response, answer.headers)
    assert isinstance(error, RateLimitError)
    assert error.message.startswith("Provider returned error: google/gemini-2.0-flash-exp:free is")


def test_the_time_to_wait_is_in_the_metadata() -> None:
    reset = datetime.now(UTC) + timedelta(seconds=60)
    milliseconds = str(int(reset.timestamp() * 1000))
    metadata = {"headers": {"X-RateLimit-Reset": milliseconds}}
    body = {"error": {"code": 429, "message": "No", "metadata": metadata}}
    wait = OpenRouter().error(429, body).retry_after
    assert wait is not None
    assert 58 < wait <= 62


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": 7}, 7),
        ({"X-RateLimit-Reset": "1754667660000"}, 0),
        ({"X-RateLimit-Reset": "9" * 30}, None),
        ({"X-RateLimit-Reset": "soon"}, None),
        (None, None),
        ("text", None),
    ],
)
def test_the_time_to_wait_of_each_form(headers: Any, wait: float | None) -> None:
    body = {"error": {"code": 429, "message": "No", "metadata": {"headers": headers}}}
    assert OpenRouter().error(429, body).retry_after == wait

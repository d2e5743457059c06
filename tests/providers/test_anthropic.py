"""How the Anthropic adapter is reached, and how it reads answers and errors."""

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
from loopspan.messages import Request, Usage
from loopspan.providers.anthropic import Anthropic
from loopspan.providers.model import Model
from loopspan.secrets import Secret

ADAPTER = Anthropic()

ERRORS: list[tuple[str, type[ProviderError], int]] = [
    ("invalid_request_error", InvalidRequestError, 400),
    ("authentication_error", AuthenticationError, 401),
    ("permission_error", AuthenticationError, 403),
    ("not_found_error", NotFoundError, 404),
    ("request_too_large", InvalidRequestError, 413),
    ("rate_limit_error", RateLimitError, 429),
    ("api_error", ServerError, 500),
    ("timeout_error", ServerError, 504),
    ("overloaded_error", ServerError, 529),
]


def answer(*content: Any, stop: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    return {"id": "msg_1", "model": "claude-1", "content": list(content), "stop_reason": stop} | (
        fields
    )


def test_request_goes_to_the_messages_endpoint_with_key_and_version() -> None:
    model = Model(ADAPTER, "claude", "https://api.anthropic.com/v1/", Secret("k"))
    assert ADAPTER.url(model.base_url, Request("claude", ())) == (
        "https://api.anthropic.com/v1/messages"
    )
    headers = ADAPTER.headers(model.key)
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("k", "2023-06-01")
    assert "x-api-key" not in ADAPTER.headers(None)


@pytest.mark.parametrize(
    ("raw", "calls", "expected"),
    [
        ("end_turn", False, "stop"),
        ("stop_sequence", False, "stop"),
        ("tool_use", True, "tool_call"),
        ("end_turn", True, "tool_call"),
        ("max_tokens", True, "length"),
        ("model_context_window_exceeded", False, "length"),
        ("refusal", False, "content_filter"),
        ("compaction", False, "compaction"),
        ("something_new", False, "something_new"),
        (None, False, "error"),
    ],
)
def test_finish_reason(raw: str | None, calls: bool, expected: str) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "add", "input": {}}
    reply = ADAPTER.reply(answer(*[call] * calls, stop=raw))
    assert (reply.finish_reason, reply.finish_reason_raw) == (expected, raw)


def test_why_it_stopped_is_told_without_the_text_of_a_refusal() -> None:
    why = {"type": "refusal", "category": "bio", "explanation": "secret"}
    assert ADAPTER.reply(answer(stop="refusal", stop_details=why)).details == {
        "anthropic.response.refusal_category": "bio"
    }
    assert ADAPTER.reply(answer(stop="stop_sequence", stop_sequence="###")).details == {
        "anthropic.response.stop_sequence": "###"
    }


def test_tk_06_cached_tokens_are_part_of_the_input() -> None:
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 40_000,
        "cache_creation_input_tokens": 1_500,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    assert ADAPTER.reply(answer(usage=usage)).usage == Usage(41_507, 20, 40_000, 1_500, 5)


@pytest.mark.parametrize(
    "usage", [{}, {"usage": None}, {"usage": 7}, {"usage": {"input_tokens": None}}]
)
def test_unknown_usage_is_not_zero(usage: dict[str, Any]) -> None:
    assert ADAPTER.reply(answer(**usage)).usage == Usage()


def test_cost_of_a_gateway_is_kept() -> None:
    assert ADAPTER.reply(answer(usage={"cost": 0.25})).cost_usd == 0.25


@pytest.mark.parametrize(("kind", "cls", "status"), ERRORS)
def test_http_error(kind: str, cls: type[ProviderError], status: int) -> None:
    data = {"type": "error", "error": {"type": kind, "message": "No."}, "request_id": None}
    error = ADAPTER.error(status, data, {"Request-Id": "req_1", "retry-after": "7"})
    assert type(error) is cls
    assert (error.message, error.code, error.status) == ("No.", kind, status)
    assert (error.request_id, error.retry_after) == ("req_1", 7.0)


def test_status_of_http_stands_where_the_body_tells_another_kind() -> None:
    data = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    error = ADAPTER.error(503, data)
    assert (type(error), error.status, error.error_type) == (ServerError, 503, "503")


@pytest.mark.parametrize("data", ["<html>", None, [], {"error": "No."}, {"type": "error"}])
def test_http_error_of_any_shape_is_an_error(data: Any) -> None:
    assert type(ADAPTER.error(500, data)) is ServerError


@pytest.mark.parametrize(("kind", "cls", "status"), ERRORS)
def test_error_inside_a_200(kind: str, cls: type[ProviderError], status: int) -> None:
    data = {"type": "error", "error": {"type": kind, "message": "No."}, "request_id": "req_1"}
    with pytest.raises(cls) as caught:
        ADAPTER.reply(data)
    assert (caught.value.status, caught.value.request_id) == (status, "req_1")


@pytest.mark.parametrize(
    "data", [None, [], "text", {}, {"content": 7}, {"content": [7]}, answer({"type": 7})]
)
def test_answer_of_another_shape_is_a_bad_response(data: Any) -> None:
    with pytest.raises(BadResponse):
        ADAPTER.reply(data)

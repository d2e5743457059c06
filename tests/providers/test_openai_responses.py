"""Answers and errors of the Responses adapter."""

from typing import Any

import pytest

from loopspan.errors import (
    BadResponse,
    InvalidRequestError,
    RateLimitError,
    ServerError,
)
from loopspan.messages import (
    Extra,
    Generic,
    Message,
    Parameters,
    Reasoning,
    Request,
    ToolCall,
    Usage,
    assistant,
)
from loopspan.providers.openai_responses import OpenAIResponses

ADAPTER = OpenAIResponses()

Wire = dict[str, Any]


def own(**details: Any) -> Extra:
    return {"openai-responses": details}


def sent(*messages: Message, **settings: Any) -> Wire:
    return ADAPTER.body(Request("gpt", messages, parameters=Parameters(**settings)))


def body(*output: Wire, **fields: Any) -> Wire:
    made = {"id": "resp_1", "object": "response", "model": "gpt-5", "status": "completed"}
    return {**made, "error": None, "output": list(output), **fields}


def call(arguments: Any = "{}", **fields: Any) -> Wire:
    return {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments, **fields}


def message(*content: Wire, **fields: Any) -> Wire:
    return {"type": "message", "role": "assistant", "content": list(content), **fields}


def output_text(text: str) -> Wire:
    return {"type": "output_text", "text": text}


# Answers


@pytest.mark.parametrize(
    ("fields", "reason", "raw"),
    [
        ({}, "stop", "completed"),
        ({"output": [call()]}, "tool_call", "completed"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
            "incomplete/max_output_tokens",
        ),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [call('{"a')],
            },
            "length",
            "incomplete/max_output_tokens",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
            "incomplete/content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete", "incomplete"),
        ({"status": "failed"}, "error", "failed"),
        ({"status": "cancelled"}, "error", "cancelled"),
        ({"status": "in_progress"}, "error", "in_progress"),
        ({"status": None}, "error", None),
    ],
)
def test_finish_reason(fields: Wire, reason: str, raw: str | None) -> None:
    reply = ADAPTER.reply(body(**fields))
    assert (reply.finish_reason, reply.finish_reason_raw) == (reason, raw)


def test_call_has_both_ids() -> None:
    item = call(id="fc_1", status="completed")
    (asked,) = ADAPTER.reply(body(item)).message.tool_calls
    assert asked == ToolCall("f", {}, "c", extra=own(item={"id": "fc_1", "status": "completed"}))
    assert sent(assistant(asked))["input"] == [item]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        (None, {}),
        ("null", {}),
        ('{"a": 1.0}', {"a": 1.0}),
        ('"text"', "text"),
        ('{"city": "Osl', '{"city": "Osl'),
        ("{'city': 'Oslo'}", "{'city': 'Oslo'}"),
    ],
)
def test_ll01_tc02_arguments_are_parsed_and_go_back_as_they_came(raw: Any, arguments: Any) -> None:
    (asked,) = ADAPTER.reply(body(call(raw))).message.tool_calls
    assert asked.arguments == arguments
    assert sent(assistant(asked))["input"] == [call(raw)]


def test_tc02_absent_arguments_are_an_empty_object() -> None:
    item = {k: v for k, v in call().items() if k != "arguments"}
    (asked,) = ADAPTER.reply(body(item)).message.tool_calls
    assert asked.arguments == {}
    assert sent(assistant(asked))["input"] == [call("{}")]


def test_thinking_is_its_text_or_else_its_summary() -> None:
    summary = [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]
    told, shown = (
        {"type": "reasoning", "id": "rs_1", "summary": summary, **fields}
        for fields in ({}, {"content": [{"type": "reasoning_text", "text": "Raw."}]})
    )
    message = ADAPTER.reply(body(told, shown)).message
    assert [part.content for part in message.parts if isinstance(part, Reasoning)] == [
        "One.\n\nTwo.",
        "Raw.",
    ]
    assert sent(message)["input"] == [told, shown]


def test_refusal_is_text_and_ends_as_a_stop() -> None:
    item = message({"type": "refusal", "refusal": "No."}, id="msg_1")
    reply = ADAPTER.reply(body(item))
    assert (reply.message.text, reply.finish_reason) == ("No.", "stop")
    assert sent(reply.message)["input"] == [item]


def test_as06_unknown_content_and_items_are_kept_in_their_place() -> None:
    hologram = {"type": "hologram", "x": 1}
    item = message(output_text("a"), hologram, output_text("b"), id="msg_1")
    search = {"type": "web_search_call", "id": "ws_1"}
    answer = ADAPTER.reply(body(search, item)).message
    assert [p.type for p in answer.parts] == ["web_search_call", "text", "hologram", "text"]
    assert answer.text == "ab"
    assert answer.parts[2] == Generic("hologram", hologram, extra=own(place="content"))
    assert sent(answer)["input"] == [search, item]


def test_tk04_parts_of_the_usage_are_not_added() -> None:
    usage = {
        "input_tokens": 2000,
        "input_tokens_details": {"cached_tokens": 1500, "cache_write_tokens": 100},
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 120},
        "total_tokens": 2300,
    }
    assert ADAPTER.reply(body(usage=usage)).usage == Usage(2000, 300, 1500, 100, 120)


@pytest.mark.parametrize("usage", [None, {}])
def test_tk12_missing_usage_is_unknown(usage: Any) -> None:
    assert ADAPTER.reply(body(usage=usage)).usage == Usage()


def test_tk10_cost_that_a_server_reports_is_taken() -> None:
    assert ADAPTER.reply(body(usage={"cost": 0.00123})).cost_usd == 0.00123
    assert ADAPTER.reply(body()).cost_usd is None


def test_details_tell_the_api_and_the_tier() -> None:
    assert ADAPTER.reply(body(service_tier="flex")).details == {
        "openai.api.type": "responses",
        "openai.response.service_tier": "flex",
    }
    assert ADAPTER.reply(body(service_tier=None)).details == {"openai.api.type": "responses"}


# Errors


def test_error_inside_an_answer_is_raised() -> None:
    failed = body(status="failed", error={"code": "server_error", "message": "x"})
    with pytest.raises(ServerError, match="x"):
        ADAPTER.reply(failed)


def test_answer_without_output_is_bad() -> None:
    with pytest.raises(BadResponse):
        ADAPTER.reply({"id": "resp_1", "status": "completed"})


def test_rate_limit_tells_how_long_to_wait() -> None:
    wire = {"error": {"code": "rate_limit_exceeded", "message": "Please try again in 20ms."}}
    told, header = (ADAPTER.error(429, wire, h) for h in ({}, {"Retry-After": "3"}))
    assert isinstance(told, RateLimitError)
    assert (told.retry_after, header.retry_after) == (0.02, 3.0)


def test_refused_request() -> None:
    wire = {"error": {"type": "invalid_request_error", "code": None, "message": "x"}}
    error = ADAPTER.error(400, wire, {"x-request-id": "req_1"})
    assert isinstance(error, InvalidRequestError)
    assert (error.code, error.request_id) == ("invalid_request_error", "req_1")

"""Answers of the chat-completions family: recordings, usage, finish reasons, errors."""

from dataclasses import astuple
from typing import Any

import pytest

from loopspan.errors import BadResponse, LoopspanError, RateLimitError
from loopspan.messages import Reply, Usage, user
from loopspan.providers.chat_completions import ChatCompletions, wait_told
from loopspan.providers.openai import OpenAI
from tests import corpus
from tests.corpus import Exchange, recorded
from tests.providers import chat
from tests.providers.chat import call_delta, plain


def facts(reply: Reply) -> tuple[Any, ...]:
    """What the index of the recordings tells of an answer."""
    calls = reply.message.tool_calls
    return (reply.response_model, *astuple(reply.usage), len(calls), [c.name for c in calls])


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and not e.expected.error)
def test_a_recorded_answer_is_read(exchange: Exchange) -> None:
    reply = corpus.read(chat.adapter_of(exchange), exchange)
    expected = exchange.expected
    assert facts(reply) == (
        expected.model,
        expected.input_tokens,
        expected.output_tokens,
        expected.cached_tokens,
        expected.cache_write_tokens,
        expected.reasoning_tokens,
        expected.tool_calls,
        expected.tool_names,
    )
    if "//openrouter.ai/" not in exchange.url:  # which has a word of its own: see its test
        assert reply.finish_reason_raw == expected.finish


FINISH_REASONS = {"tool_calls": "tool_call", "stop": "stop", "length": "length"}


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and not e.expected.error)
def test_a_recorded_finish_reason_is_normalised(exchange: Exchange) -> None:
    reply = corpus.read(chat.adapter_of(exchange), exchange)
    word = exchange.expected.finish
    if "tool_truncation_contract" in exchange.id or "tool-truncation-contract" in exchange.id:
        assert reply.finish_reason == "length"  # the upstream word, which OpenRouter translates
    elif word is None:
        assert reply.finish_reason == "tool_call"  # one gateway tells none, beside a call
    else:
        assert reply.finish_reason == FINISH_REASONS.get(word, word)


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.expected.error)
def test_a_recorded_error_is_told(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    if exchange.status >= 400:
        error = adapter.error(exchange.status, exchange.response, exchange.headers)
        assert error.status == exchange.status
        assert error.request_id == exchange.headers.get("x-request-id")
    else:
        with pytest.raises(LoopspanError) as caught:
            corpus.read(adapter, exchange)
        assert caught.value.error_type == "400"


@chat.each_adapter
def test_an_answer_without_choices_is_an_error(adapter: ChatCompletions) -> None:
    with pytest.raises(BadResponse):
        adapter.reply({"id": "c1", "choices": []})


@chat.each_adapter
def test_tk12_not_reported_is_not_zero(adapter: ChatCompletions) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    zero = {**usage, "completion_tokens_details": {"reasoning_tokens": 0}}
    unsaid = adapter.reply({**plain(content="a"), "usage": usage}).usage
    said = adapter.reply({**plain(content="a"), "usage": zero}).usage
    assert (unsaid.reasoning_output_tokens, said.reasoning_output_tokens) == (None, 0)


@pytest.mark.parametrize("usage", [None, "many", {"prompt_tokens": "5"}, {"prompt_tokens": True}])
@chat.each_adapter
def test_usage_that_cannot_be_read_is_unknown(adapter: ChatCompletions, usage: Any) -> None:
    assert adapter.reply({**plain(content="a"), "usage": usage}).usage == Usage()


def test_deepseek_tells_cached_tokens_by_another_name() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}
    assert OpenAI().reply({**plain(content="a"), "usage": usage}).usage.cache_read_input_tokens == 4


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_call"),
        ("function_call", "tool_call"),
        ("content_filter", "content_filter"),
        ("eos", "eos"),
        (None, "error"),
        ("", "error"),
    ],
)
def test_finish_reasons(word: str | None, reason: str) -> None:
    reply = OpenAI().reply(plain(finish=word, content="a"))
    assert (reply.finish_reason, reply.finish_reason_raw) == (reason, word or None)


@pytest.mark.parametrize("word", ["stop", None, "tool_calls"])
def test_an_answer_with_calls_ended_for_them(word: str | None) -> None:
    calls = [call_delta(0, id="a", name="f", arguments="{}")]
    assert OpenAI().reply(plain(finish=word, tool_calls=calls)).finish_reason == "tool_call"


@pytest.mark.parametrize("arguments", ['{"city": "Osl', "{'city': 'Oslo'}"])
@chat.each_adapter
def test_ll01_cut_arguments_stay_text_and_the_cut_is_told(
    adapter: ChatCompletions, arguments: str
) -> None:
    calls = [call_delta(0, id="abcdefghi", name="weather", arguments=arguments)]
    reply = adapter.reply(plain(finish="length", tool_calls=calls))
    (call,) = reply.message.tool_calls
    assert call.arguments == arguments
    assert reply.finish_reason == "length"
    (_, sent) = adapter.body(chat.ask(user("?"), reply.message))["messages"]
    assert sent["tool_calls"][0]["function"]["arguments"] == arguments


# Cost and errors


@chat.each_adapter
def test_tk10_a_reported_cost_is_taken(adapter: ChatCompletions) -> None:
    usage = {"prompt_tokens": 5, "cost": 0.00123}
    assert adapter.reply({**plain(content="a"), "usage": usage}).cost_usd == 0.00123


@chat.each_adapter
def test_a_cost_that_is_not_reported_is_unknown(adapter: ChatCompletions) -> None:
    assert adapter.reply({**plain(content="a"), "usage": {"prompt_tokens": 5}}).cost_usd is None


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached. Please try again in 18.642s. Visit", 18.642),
        ("Please try again in 174ms.", 0.174),
        ("Please try again in 9m38.016s.", 578.016),
        ("Please try again in 1h2m3s", 3723.0),
        ("Please retry after 20 seconds.", 20.0),
        ("Please try again in 2 minutes", 120.0),
        ("Try again in 1d", 86400.0),
        ("Please try again later.", None),
        ("Please try again in a moment", None),
        ("", None),
    ],
)
def test_a_message_may_tell_the_time_to_wait(message: str, seconds: float | None) -> None:
    assert wait_told(message) == (None if seconds is None else pytest.approx(seconds))


@chat.each_adapter
def test_a_rate_limit_tells_code_and_time_to_wait(adapter: ChatCompletions) -> None:
    body = {
        "error": {
            "message": "Rate limit reached. Please try again in 1.5s.",
            "type": "tokens",
            "code": "rate_limit_exceeded",
        }
    }
    error = adapter.error(429, body)
    assert isinstance(error, RateLimitError)
    assert (error.code, error.retry_after) == ("rate_limit_exceeded", 1.5)
    assert adapter.error(429, body, {"Retry-After": "4"}).retry_after == 4


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "No", "code": None, "type": "bad"}}, "No", "bad"),
        ({"error": "No"}, "No", None),
        ({"error": {"message": {"detail": 1}}}, '{"detail":1}', None),
        ({"error": {"message": None, "code": 7}}, "", None),
        (
            {"object": "error", "message": "No", "type": "BadRequest", "code": 400},
            "No",
            "BadRequest",
        ),
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>", None),
        ([], "", None),
        (None, "", None),
    ],
)
def test_error_bodies_of_each_form(body: Any, message: str, code: str | None) -> None:
    error = OpenAI().error(400, body)
    assert (error.message, error.code) == (message, code)


def test_null_for_an_error_is_none() -> None:
    assert OpenAI().reply({**plain(content="Hi"), "error": None}).message.text == "Hi"

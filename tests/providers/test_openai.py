"""OpenAI's chat completions, and servers that speak them."""

import pytest

from loopspan.errors import InvalidRequestError, RateLimitError
from loopspan.messages import Parameters, Text, user
from loopspan.providers.openai import OpenAI
from tests import corpus
from tests.corpus import Exchange, exchange, recorded
from tests.providers import chat
from tests.providers.chat import plain


def test_the_limit_of_tokens_has_its_new_name() -> None:
    body = OpenAI().body(chat.ask(user("?"), parameters=Parameters(max_tokens=5)))
    assert body["max_completion_tokens"] == 5
    assert "max_tokens" not in body


def test_both_names_of_the_limit_are_read() -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        request = OpenAI().request({"model": "m", "messages": [], name: 5})
        assert request.parameters.max_tokens == 5


def test_the_level_of_reasoning_is_the_effort() -> None:
    body = OpenAI().body(chat.ask(user("?"), parameters=Parameters(reasoning_level="low")))
    assert body["reasoning_effort"] == "low"


def test_tier_and_fingerprint_are_details() -> None:
    body = {**plain(content="a"), "service_tier": "flex", "system_fingerprint": "fp_1"}
    assert OpenAI().reply(body).details == {
        "openai.response.service_tier": "flex",
        "openai.response.system_fingerprint": "fp_1",
    }


def test_details_that_are_missing_or_null_are_left_out() -> None:
    assert OpenAI().reply({**plain(content="a"), "system_fingerprint": None}).details == {}


@recorded("groq", "openrouter", where=lambda e: chat.is_chat(e) and not e.expected.error)
def test_details_of_openai_are_told_of_openai_alone(exchange: Exchange) -> None:
    assert corpus.read(chat.adapter_of(exchange), exchange).details == {}


REFUSALS = (
    "openai/rig-refusal-matrix-chat-streaming-and-blocking-each-deliver-their-refusal-in-full.json"
)
DEEPSEEK = (
    "openai-compat/deepseek-rig-reasoning-block-order-agent-blocking-"
    "reasoner-roundtrip-keeps-reasonin-c4c214.json"
)


def test_a_recorded_tier() -> None:
    details = corpus.read(OpenAI(), exchange(f"{REFUSALS}#0")).details
    assert details["openai.response.service_tier"] == "default"


@pytest.mark.parametrize("number", [0, 1])
def test_a_recorded_refusal_reads_alike_both_ways(number: int) -> None:
    reply = corpus.read(OpenAI(), exchange(f"{REFUSALS}#{number}"))
    refusal = Text(
        "I'm sorry, but I can't assist with that request.", extra={"openai": {"field": "refusal"}}
    )
    assert reply.message.parts == (refusal,)
    assert reply.finish_reason == "stop"


def test_a_recorded_answer_that_was_all_thinking_is_cut_and_empty() -> None:
    name = "openai/rig-truncated-turn-matrix-chat-streaming-reasoning-budget-exhausted.json#0"
    reply = corpus.read(OpenAI(), exchange(name))
    assert (reply.message.parts, reply.finish_reason) == ((), "length")


def test_a_recorded_deepseek_loop_sends_its_thinking_again() -> None:
    first, second = exchange(f"{DEEPSEEK}#0"), exchange(f"{DEEPSEEK}#1")
    reply = corpus.read(OpenAI(), first)
    assert reply.message.reasoning
    (sent,) = OpenAI().body(chat.ask(reply.message))["messages"]
    (recorded_again,) = [m for m in second.request["messages"] if m["role"] == "assistant"]
    assert sent["reasoning_content"] == recorded_again["reasoning_content"]
    assert sent["tool_calls"][0]["id"] == recorded_again["tool_calls"][0]["id"]


def test_recorded_thinking_of_ollama_goes_back_in_its_field() -> None:
    name = "openai-compat/ollamav1-actag-agent-common-format-parameters.json#0"
    reply = corpus.read(OpenAI(), exchange(name))
    (sent,) = OpenAI().body(chat.ask(reply.message))["messages"]
    assert sent["reasoning"] == reply.message.reasoning


def test_azures_rate_limit() -> None:
    body = {"error": {"code": "429", "message": "Retry after 20 seconds.", "details": "text"}}
    error = OpenAI().error(429, body, {"retry-after": "1", "x-request-id": "r1"})
    assert isinstance(error, RateLimitError)
    assert (error.retry_after, error.request_id, error.code) == (1, "r1", "429")


def test_a_refused_parameter_tells_its_code() -> None:
    answer = exchange("openai/pydai-openai-o1-mini-system-role-system.json#0")
    error = OpenAI().error(answer.status, answer.response, answer.headers)
    assert isinstance(error, InvalidRequestError)
    assert (error.code, error.error_type) == ("unsupported_value", "400")
    assert "does not support 'system'" in error.message

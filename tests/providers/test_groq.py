"""Groq's chat completions."""

from typing import Any

import pytest

from loopspan.errors import BadResponse, InvalidRequestError, UnsupportedContent
from loopspan.messages import Blob, File, Generic, Parameters, Request, Usage, user
from loopspan.providers.groq import Groq
from tests import corpus
from tests.corpus import exchange
from tests.providers import chat
from tests.providers.chat import call_delta, delta, plain, sse

COUNTS: dict[str, Any] = {
    "prompt_tokens": 2000,
    "completion_tokens": 300,
    "prompt_tokens_details": {"cached_tokens": 1500},
    "completion_tokens_details": {"reasoning_tokens": 120},
    "queue_time": 0.1,
}
USAGE = Usage(2000, 300, cache_read_input_tokens=1500, reasoning_output_tokens=120)


def test_tk04_parts_are_not_added_to_the_totals() -> None:
    last = {**delta("stop"), "usage": COUNTS}
    assert corpus.read_stream(Groq(), [sse([delta(content="a"), last])]).usage == USAGE


def test_usage_comes_in_a_field_of_groqs_own() -> None:
    last = {**delta("stop"), "x_groq": {"id": "req_1", "usage": COUNTS}}
    first = {**delta(content="a"), "x_groq": {"id": "req_1"}}
    assert corpus.read_stream(Groq(), [sse([first, last])]).usage == USAGE


def test_usage_that_is_told_three_times_counts_once() -> None:
    last = {**delta("stop"), "usage": COUNTS, "x_groq": {"usage": COUNTS}}
    end = {"choices": [], "usage": COUNTS}
    assert corpus.read_stream(Groq(), [sse([delta(content="a"), last, end])]).usage == USAGE


def test_the_limit_of_tokens() -> None:
    body = Groq().body(chat.ask(user("?"), parameters=Parameters(max_tokens=5)))
    assert body["max_tokens"] == 5
    newer = {"model": "m", "messages": [], "max_completion_tokens": 5}
    assert Groq().request(newer).parameters.max_tokens == 5
    assert Groq().body(Groq().request(newer)) == newer


def test_tc02_recorded_arguments_null_are_an_empty_object() -> None:
    name = "groq/rig-agent-tool-sessions-parallel-tool-calls-single-turn-nonstreaming.json#0"
    answer = exchange(name)
    raw = [
        c["function"]["arguments"] for c in answer.response["choices"][0]["message"]["tool_calls"]
    ]
    assert raw == ["null", "null"]
    message = corpus.read(Groq(), answer).message
    assert [call.arguments for call in message.tool_calls] == [{}, {}]
    (sent,) = Groq().body(chat.ask(message))["messages"]
    assert [c["function"]["arguments"] for c in sent["tool_calls"]] == raw


def test_a_recorded_error_within_a_stream() -> None:
    answer = exchange("groq/pydai-tool-use-failed-error-streaming-with-text.json#0")
    with pytest.raises(InvalidRequestError) as caught:
        corpus.read(Groq(), answer)
    assert (caught.value.code, caught.value.status) == ("tool_use_failed", 400)


def test_what_a_recorded_error_says_the_model_wrote_is_in_its_body() -> None:
    answer = exchange("groq/pydai-tool-use-failed-error-with-text.json#0")
    error = Groq().error(answer.status, answer.response, answer.headers)
    assert error.code == "tool_use_failed"
    assert error.body["error"]["failed_generation"] == "maybe"


def test_parsed_thinking_goes_back_in_its_field() -> None:
    call = call_delta(0, id="a", name="f", arguments="{}")
    message = Groq().reply(plain(reasoning="Hm.", tool_calls=[call])).message
    assert message.reasoning == "Hm."
    (sent,) = Groq().body(chat.ask(message))["messages"]
    assert sent.keys() == {"role", "reasoning", "tool_calls"}


def test_tools_that_the_server_ran_are_kept_and_not_sent_again() -> None:
    answer = exchange("groq/pydai-groq-model-web-search-tool-stream.json#0")
    message = corpus.read(Groq(), answer).message
    assert message.tool_calls == ()
    (ran,) = [part.body for part in message.parts if isinstance(part, Generic)]
    assert [(tool["type"], bool(tool["output"])) for tool in ran] == [("search", True)]
    (sent,) = Groq().body(chat.ask(message))["messages"]
    assert "executed_tools" not in sent


def test_why_a_stream_was_stopped_early_is_told() -> None:
    chunks = [delta(content="a"), {**delta(), "x_groq": {"id": "req_1", "error": "Over capacity"}}]
    with pytest.raises(BadResponse, match="Over capacity"):
        corpus.read_stream(Groq(), [sse(chunks)])


@pytest.mark.parametrize(
    "part",
    [
        Blob("audio", "AAAA", "audio/wav"),
        Blob("document", "AAAA", "application/pdf"),
        File("document", "f1"),
    ],
)
def test_what_groq_does_not_take_is_a_clear_error(part: Blob | File) -> None:
    with pytest.raises(UnsupportedContent, match=f"groq takes no '{part.type}' part of modality"):
        Groq().body(Request("m", (user("Look:", part),)))

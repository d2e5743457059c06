"""The Responses adapter on recorded traffic: every answer, every request, every way to cut it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopspan.errors import BadResponse, ProviderError
from loopspan.messages import Request
from loopspan.providers.adapter import StreamState
from loopspan.providers.framing import Event, decoder
from loopspan.providers.openai_responses import OpenAIResponses
from tests.corpus import Exchange, cut, lines, read, read_stream, recorded, single_bytes, watch

ADAPTER = OpenAIResponses()


def is_responses(exchange: Exchange) -> bool:
    return exchange.url.endswith("/responses")


def answered(exchange: Exchange) -> bool:
    return is_responses(exchange) and exchange.status == 200


def streamed(exchange: Exchange) -> bool:
    return answered(exchange) and exchange.streamed


FOLDERS = ("openai-responses", "openai-compat")


@recorded(*FOLDERS, where=answered)
def test_answer(exchange: Exchange) -> None:
    told = exchange.expected
    reply = read(ADAPTER, exchange)
    usage = reply.usage
    assert reply.response_model == told.model
    assert (usage.input_tokens, usage.output_tokens) == (told.input_tokens, told.output_tokens)
    assert usage.cache_read_input_tokens == told.cached_tokens
    assert usage.reasoning_output_tokens == told.reasoning_tokens
    # The index leaves out writes of nothing, which the body says.
    assert (usage.cache_write_input_tokens or None) == told.cache_write_tokens
    assert reply.finish_reason_raw == told.finish
    assert [call.name for call in reply.message.tool_calls] == told.tool_names
    assert len(reply.message.tool_calls) == told.tool_calls
    assert reply.response_id
    assert reply.details["openai.api.type"] == "responses"


@recorded(*FOLDERS, where=lambda e: is_responses(e) and e.status >= 400)
def test_error(exchange: Exchange) -> None:
    error = ADAPTER.error(exchange.status, exchange.response, exchange.headers)
    assert isinstance(error, ProviderError)
    assert not isinstance(error, BadResponse)
    assert error.status == exchange.expected.status
    assert error.code == exchange.response["error"]["code"]
    assert error.message == exchange.response["error"]["message"]


@recorded(*FOLDERS, where=lambda e: answered(e) and not e.streamed)
def test_answer_goes_back_as_it_came(exchange: Exchange) -> None:
    message = read(ADAPTER, exchange).message
    assert ADAPTER.body(Request("gpt", (message,)))["input"] == exchange.response["output"]


@recorded(*FOLDERS, where=answered)
def test_answer_that_went_back_is_read_as_it_was(exchange: Exchange) -> None:
    message = read(ADAPTER, exchange).message
    assert ADAPTER.request(ADAPTER.body(Request("gpt", (message,)))).messages == (message,)


def _without_stream(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "stream"}


DIFFERENCES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    # `stream: false` is the default, and is not written.
    f"openai-responses/{file}.json": _without_stream
    for file in (
        "chatlas-parallel-chat-error-continue-mode",
        "chatlas-parallel-chat-multi-turn-tools",
        "llm-responses-interleaved-reasoning-between-tool-calls",
        "llm-responses-round-trips-encrypted-reasoning",
        "pydai-multimodal-tool-return-matrix-tool-return-content-url-audio-openai-responses",
        "rubyllm-chat-web-search-with-openai-gpt-5-2-searches-and-records-the-tool-call-items",
    )
}
"""What differs between a recorded body and what its request encodes to, by file, and why."""


@recorded(*FOLDERS, where=is_responses)
def test_request(exchange: Exchange) -> None:
    sent = exchange.request
    change = DIFFERENCES.get(exchange.id.partition("#")[0])
    expected = change(sent) if change else sent
    assert (expected != sent) == (change is not None)
    request = ADAPTER.request(sent, exchange.url)
    assert ADAPTER.body(request) == expected
    assert ADAPTER.request(ADAPTER.body(request)) == request
    assert ADAPTER.url(exchange.url, request) == exchange.url
    assert ADAPTER.url(exchange.url.removesuffix("/responses"), request) == exchange.url


@recorded(*FOLDERS, where=streamed)
@pytest.mark.parametrize("chunks", [lines, single_bytes])
def test_stream_in_other_chunks(exchange: Exchange, chunks: Callable[[bytes], list[bytes]]) -> None:
    assert read_stream(ADAPTER, chunks(exchange.data)) == read(ADAPTER, exchange)


@recorded(*FOLDERS, where=streamed)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(positions=st.lists(st.integers(0, 2**20), max_size=5))
def test_stream_in_random_chunks(exchange: Exchange, positions: list[int]) -> None:
    assert read_stream(ADAPTER, cut(exchange.data, positions)) == read(ADAPTER, exchange)


@recorded(*FOLDERS, where=streamed)
def test_pieces_of_a_stream_make_its_whole(exchange: Exchange) -> None:
    """The message is the same where the last event leaves the items out, as some servers do."""
    state = StreamState()
    for event in decoder("sse").feed(exchange.data):
        data = json.loads(event.text) if event.text != "[DONE]" else {}
        if state.body and "response" in data:
            data["response"]["output"] = []
        ADAPTER.event(state, Event(json.dumps(data)))
    assert ADAPTER.finish(state).message == read(ADAPTER, exchange).message


@recorded(*FOLDERS, where=streamed)
def test_deltas_of_a_stream_are_its_text_and_thinking(exchange: Exchange) -> None:
    reply, deltas = watch(ADAPTER, [exchange.data])
    assert "".join(d.content for d in deltas) == reply.message.reasoning + reply.message.text

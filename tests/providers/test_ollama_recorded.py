"""The Ollama adapter on recorded traffic: every answer, every request, every way to cut it."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopspan.providers.ollama import Ollama
from tests.corpus import Exchange, cut, lines, read, read_stream, recorded, single_bytes, watch
from tests.corpus import exchange as find

ADAPTER = Ollama()


@recorded("ollama")
def test_answer(exchange: Exchange) -> None:
    reply = read(ADAPTER, exchange)
    said = exchange.expected
    assert reply.response_model == said.model
    assert reply.usage.input_tokens == said.input_tokens
    assert reply.usage.output_tokens == said.output_tokens
    assert reply.usage.reasoning_output_tokens is None
    assert reply.finish_reason_raw == said.finish
    assert [c.name for c in reply.message.tool_calls] == said.tool_names
    assert len(reply.message.tool_calls) == said.tool_calls
    assert all(isinstance(c.arguments, dict) and c.id for c in reply.message.tool_calls)
    assert "</think>" not in reply.message.text


@recorded("ollama", where=lambda e: e.streamed)
@pytest.mark.parametrize("chunks", [lines, single_bytes])
def test_stream_in_other_chunks(exchange: Exchange, chunks: Callable[[bytes], list[bytes]]) -> None:
    whole = read(ADAPTER, exchange)
    assert read_stream(ADAPTER, chunks(exchange.data)) == whole


@recorded("ollama", where=lambda e: e.streamed)
@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(positions=st.lists(st.integers(0, 2**20), max_size=6))
def test_stream_in_random_chunks(exchange: Exchange, positions: list[int]) -> None:
    assert read_stream(ADAPTER, cut(exchange.data, positions)) == read(ADAPTER, exchange)


@recorded("ollama", where=lambda e: e.streamed)
def test_deltas_of_a_stream_are_its_text_and_thinking(exchange: Exchange) -> None:
    reply, deltas = watch(ADAPTER, [exchange.data])
    shown = "".join(d.content for d in deltas)
    said = reply.message.reasoning + reply.message.text
    assert "".join(shown.split()) == "".join(said.split())


DIFFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "ollama/lcgo-client-generatechat.json#0": (
        {"stream": True},
        "streaming is the server's default; we say it",
    ),
}
"""What encoding adds to the decoded body, and why."""


@recorded("ollama", where=lambda e: e.request is not None)
def test_request(exchange: Exchange) -> None:
    added, _ = DIFFERENCES.get(exchange.id, ({}, ""))
    assert not added.keys() & exchange.request.keys()
    decoded = ADAPTER.request(exchange.request, exchange.url)
    assert ADAPTER.body(decoded) == exchange.request | added
    assert ADAPTER.url(exchange.url.removesuffix("/api/chat"), decoded) == exchange.url


@recorded("ollama", where=lambda e: e.request is not None)
def test_decoded_request_is_what_its_encoding_decodes_to(exchange: Exchange) -> None:
    decoded = ADAPTER.request(exchange.request)
    assert ADAPTER.request(ADAPTER.body(decoded)) == decoded


def test_thinking_of_a_recorded_request_is_apart_from_its_text() -> None:
    exchange = find("ollama/rig-tools-two-tools-nonstreaming.json#3")
    parts = ADAPTER.request(exchange.request).messages[-2].parts
    assert [p.type for p in parts] == ["reasoning", "tool_call"]

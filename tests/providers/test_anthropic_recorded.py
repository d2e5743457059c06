"""The Anthropic adapter on recorded traffic: every answer, every request, every way to cut it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopspan.errors import BadResponse, ProviderError
from loopspan.messages import Request, Usage
from loopspan.providers.anthropic import Anthropic
from tests.corpus import Exchange, cut, lines, read, read_stream, recorded, single_bytes
from tests.providers.test_anthropic_stream import STOP, closed, delta, opened, sse

ADAPTER = Anthropic()


REASONING = {"rig-streaming-gateway-message-delta-metadata": 0}
"""Reasoning tokens that the index leaves out: they are told in the last event of the stream."""


def usage(exchange: Exchange) -> Usage:
    """The index has the provider's own numbers: its input is without what was cached."""
    told = exchange.expected
    total = told.input_tokens
    if total is not None:
        total += (told.cached_tokens or 0) + (told.cache_write_tokens or 0)
    return Usage(
        total,
        told.output_tokens,
        told.cached_tokens,
        told.cache_write_tokens,
        REASONING.get(_file(exchange), told.reasoning_tokens),
    )


@recorded("anthropic", where=lambda e: e.status == 200)
def test_answer(exchange: Exchange) -> None:
    told = exchange.expected
    reply = read(ADAPTER, exchange)
    assert reply.response_model == told.model
    assert reply.usage == usage(exchange)
    assert reply.finish_reason_raw == told.finish
    assert [call.name for call in reply.message.tool_calls] == told.tool_names
    assert len(reply.message.tool_calls) == told.tool_calls
    assert all(isinstance(call.arguments, dict) for call in reply.message.tool_calls)


@recorded("anthropic", where=lambda e: e.status >= 400)
def test_error(exchange: Exchange) -> None:
    error = ADAPTER.error(exchange.status, exchange.response, exchange.headers)
    assert isinstance(error, ProviderError)
    assert not isinstance(error, BadResponse)
    assert error.status == exchange.expected.status
    assert error.code == exchange.response["error"]["type"]
    assert error.message == exchange.response["error"]["message"]
    assert error.request_id == exchange.response.get("request_id")


@recorded("anthropic", where=lambda e: e.status == 200)
def test_answer_goes_back_as_it_came(exchange: Exchange) -> None:
    message = read(ADAPTER, exchange).message
    sent = ADAPTER.body(Request("claude", (message,)))["messages"]
    if exchange.streamed:
        assert ADAPTER.request({"model": "claude", "messages": sent}).messages == (
            (message,) if message.parts else ()
        )
    else:
        assert [m["content"] for m in sent] == [exchange.response["content"]][: len(message.parts)]


def spelled(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events that spell out an unstreamed body, its texts in two pieces."""
    yield {
        "type": "message_start",
        "message": body | {"content": [], "stop_reason": None, "stop_sequence": None},
    }
    for index, block in enumerate(body["content"]):
        shell, texts = dict(block), {}
        for key, kind in (("text", "text_delta"), ("thinking", "thinking_delta")):
            if key in block:
                shell[key], texts[kind] = "", (key, block[key])
        if "signature" in block:
            shell["signature"] = ""
        if "input" in block:
            shell["input"] = {}
            texts["input_json_delta"] = ("partial_json", json.dumps(block["input"]))
        yield opened(index, **shell)
        for kind, (key, text) in texts.items():
            for piece in (text[:5], text[5:]):
                yield delta(index, kind, **{key: piece})
        if "signature" in block:
            yield delta(index, "signature_delta", signature=block["signature"])
        yield closed(index)
    told = {key: body.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": told, "usage": body["usage"]}
    yield STOP


@recorded("anthropic", where=lambda e: e.status == 200 and not e.streamed)
def test_as_01_streamed_and_unstreamed_give_the_same_reply(exchange: Exchange) -> None:
    data = sse(*spelled(exchange.response))
    assert read_stream(ADAPTER, [data]) == ADAPTER.reply(exchange.response)


Change = Callable[[dict[str, Any]], dict[str, Any]]


def _messages(body: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    changed = [m | {"content": change(m["content"])} for m in body["messages"]]
    return body | {"messages": changed}


def shorthand(body: dict[str, Any]) -> dict[str, Any]:
    """A string is short for one text block."""
    return _messages(body, lambda c: [{"type": "text", "text": c}] if isinstance(c, str) else c)


def nulls(body: dict[str, Any]) -> dict[str, Any]:
    """A field of a block that is null is absent."""
    return _messages(
        body, lambda c: [{k: v for k, v in block.items() if v is not None} for block in c]
    )


def no_tools(body: dict[str, Any]) -> dict[str, Any]:
    """An empty list of tools is never sent."""
    return {k: v for k, v in body.items() if (k, v) != ("tools", [])}


def no_system(body: dict[str, Any]) -> dict[str, Any]:
    """An empty list of instructions is none."""
    return {k: v for k, v in body.items() if (k, v) != ("system", [])}


def unstreamed(body: dict[str, Any]) -> dict[str, Any]:
    """`stream: false` is what the API does where nothing is said."""
    return {k: v for k, v in body.items() if (k, v) != ("stream", False)}


DIFFERENCES: dict[Change, set[str]] = {
    shorthand: {
        "actag-anthropic-json",
        "actag-array-instructions-agent-basic-request-with-override",
        "ddtrace-anthropic-completion-tools-server-tool-use",
        "ddtrace-anthropic-v1-messages-post-a6302ed3",
        "mira-call-with-params-anthropic-claude-sonnet-4-0",
        "mira-model-not-found-stream-anthropic-claude-sonnet-4-0",
        "ollmtry-anthropic-tools-legacy",
    },
    nulls: {"mira-call-with-document-url-anthropic-claude-sonnet-4-0"},
    no_tools: {
        "chatlas-anthropic-file-lifecycle-async",
        "chatlas-anthropic-respects-turns-interface",
    },
    no_system: {"oinf-toolcallsinchatresponse.test-anthropic"},
    unstreamed: {
        "oinf-toolcallsinchatresponse.test-anthropic",
        "pydai-strict-none-tool-basemodel-output",
        "rubyllm-chat-error-handling-with-anthropic-claude-haiku-4-5-raises-appropr-803490",
        "rubyllm-chat-tool-choice-and-calls-control-anthropic-claude-haiku-4-5-resp-4ff969",
    },
}
"""Where the body that we would send is not the recorded one, and how; else they are equal."""


def _file(exchange: Exchange) -> str:
    return exchange.id.removeprefix("anthropic/").partition(".json#")[0]


def _is_request(exchange: Exchange) -> bool:
    return exchange.request is not None and not any(
        isinstance(message, str) for message in exchange.request["messages"]
    )


@recorded("anthropic", where=_is_request)
def test_request(exchange: Exchange) -> None:
    body = exchange.request
    for change, files in DIFFERENCES.items():
        if _file(exchange) in files:
            changed = change(body)
            assert changed != body, "the table is wider than needed"
            body = changed
    assert ADAPTER.body(ADAPTER.request(exchange.request, exchange.url)) == body


@recorded("anthropic", where=lambda e: e.request is not None and not _is_request(e))
def test_request_that_the_provider_refused_for_its_shape_is_refused_here(
    exchange: Exchange,
) -> None:
    assert exchange.status == 400
    with pytest.raises(BadResponse):
        ADAPTER.request(exchange.request, exchange.url)


@recorded("anthropic", where=lambda e: e.status == 200 and e.streamed)
@pytest.mark.parametrize("pieces", [lines, single_bytes])
def test_stream_may_be_cut_anywhere(
    exchange: Exchange, pieces: Callable[[bytes], list[bytes]]
) -> None:
    whole = read(ADAPTER, exchange)
    assert read_stream(ADAPTER, pieces(exchange.data)) == whole


@recorded("anthropic", where=lambda e: e.status == 200 and e.streamed)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(positions=st.lists(st.integers(0, 2**16), max_size=20))
def test_stream_may_be_cut_at_random(exchange: Exchange, positions: list[int]) -> None:
    whole = read(ADAPTER, exchange)
    assert read_stream(ADAPTER, cut(exchange.data, positions)) == whole

"""The Gemini adapter on recorded traffic: every answer, every request, every way to cut it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopspan.errors import BadResponse, ProviderError
from loopspan.messages import Reply, Request, Usage
from loopspan.providers.framing import Framing
from loopspan.providers.gemini import Gemini
from tests.corpus import Exchange, cut, lines, read, read_stream, recorded, single_bytes

ADAPTER = Gemini()


def framing(exchange: Exchange) -> Framing:
    """Without `alt=sse` a stream is a JSON array."""
    return "sse" if "alt=sse" in exchange.url else "json-array"


def answer(exchange: Exchange) -> Reply:
    return read(ADAPTER, exchange, framing(exchange))


def count(exchange: Exchange, name: str) -> int | None:
    """The last number of this name in the recorded bytes; the index does not have all of them."""
    found = re.findall(rf'"{name}": ?(\d+)'.encode(), exchange.data)
    return int(found[-1]) if found else None


def usage(exchange: Exchange) -> Usage:
    """The index has the provider's own numbers: input without that of its tools, output without
    thoughts."""
    told = exchange.expected
    given = [n for n in (told.output_tokens, told.reasoning_tokens) if n is not None]
    tools = count(exchange, "toolUsePromptTokenCount") or 0
    return Usage(
        None if told.input_tokens is None else told.input_tokens + tools,
        sum(given) if given else None,
        told.cached_tokens,
        told.cache_write_tokens,
        told.reasoning_tokens,
    )


@recorded("gemini", where=lambda e: e.status == 200)
def test_answer(exchange: Exchange) -> None:
    told = exchange.expected
    reply = answer(exchange)
    assert reply.response_model == told.model
    assert reply.usage == usage(exchange)
    # One client asked for numbers instead of words.
    assert reply.finish_reason_raw == str(told.finish).removeprefix("promptFeedback:")
    assert [call.name for call in reply.message.tool_calls] == told.tool_names
    assert len(reply.message.tool_calls) == told.tool_calls
    assert all(isinstance(call.arguments, dict) and call.id for call in reply.message.tool_calls)


@recorded("gemini", where=lambda e: e.status == 200 and e.expected.output_tokens is not None)
def test_input_and_output_are_the_total(exchange: Exchange) -> None:
    assert answer(exchange).usage.total_tokens == count(exchange, "totalTokenCount")


@recorded("gemini", where=lambda e: e.status >= 400)
def test_error(exchange: Exchange) -> None:
    error = ADAPTER.error(exchange.status, exchange.response, exchange.headers)
    assert isinstance(error, ProviderError)
    assert not isinstance(error, BadResponse)
    assert error.status == exchange.expected.status
    assert error.code == exchange.response["error"]["status"]
    assert error.message == exchange.response["error"]["message"]


def sent_back(reply: Reply) -> list[Any]:
    contents = ADAPTER.body(Request("gemini", (reply.message,)))["contents"]
    return [part for content in contents for part in content["parts"]]


@recorded("gemini", where=lambda e: e.status == 200 and not e.streamed)
def test_answer_goes_back_as_it_came(exchange: Exchange) -> None:
    content = exchange.response.get("candidates", [{}])[0].get("content", {})
    assert sent_back(answer(exchange)) == content.get("parts", [])


@recorded("gemini", where=lambda e: e.status == 200 and e.streamed)
def test_every_signature_of_a_stream_goes_back(exchange: Exchange) -> None:
    signatures = re.findall(rb'"thoughtSignature": ?"([^"]+)"', exchange.data)
    parts = sent_back(answer(exchange))
    assert [p["thoughtSignature"].encode() for p in parts if "thoughtSignature" in p] == signatures


Change = Callable[[Any], Any]


def _each(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if isinstance(value, dict):
        return change({key: _each(item, change) for key, item in value.items()})
    return [_each(item, change) for item in value] if isinstance(value, list) else value


def nulls(body: Any) -> Any:
    """A field that is null is absent."""
    return _each(body, lambda fields: {k: v for k, v in fields.items() if v is not None})


def not_thought(body: Any) -> Any:
    """A part is no thought unless it says so."""
    return _each(
        body, lambda fields: {k: v for k, v in fields.items() if (k, v) != ("thought", False)}
    )


SNAKE = re.compile(
    "(function_(?:call|response)|inline_data|file_(?:data|uri)|mime_type|thought_signature)"
)


def snake(body: Any) -> Any:
    """The API reads names in snake case too; we write those that it documents."""

    def camel(name: str) -> str:
        return re.sub("_(.)", lambda m: m[1].upper(), name) if SNAKE.fullmatch(name) else name

    return _each(body, lambda fields: {camel(k): v for k, v in fields.items()})


def empty_text(body: Any) -> Any:
    """Empty text without a signature says nothing."""

    def change(fields: dict[str, Any]) -> dict[str, Any]:
        if isinstance(parts := fields.get("parts"), list):
            return fields | {"parts": [part for part in parts if part != {"text": ""}]}
        return fields

    return _each(body, change)


RIG = {
    "rig-cached-content-matrix-use-streaming#0",
    "rig-error-envelope-nonexistent-model-streaming-error-preserves-status-and-body#0",
    "rig-generate-tool-args-nested-arguments-streaming#0",
    "rig-generate-tool-args-unicode-arguments-streaming#0",
    "rig-stream-terminal-matrix-two-terminal-stream-keeps-the-text-after-the-first-finish#0",
    "rig-streaming-grammar-parallel-function-calls#0",
    "rig-streaming-grammar-thinking-then-tool-call#0",
    "rig-thought-text-matrix-text-response-is-none-when-the-turn-is-all-thought#0",
}
MULTIMODAL = (
    "vertex-pydai-multimodal-tool-return-matrix-tool-return-content-url-image-google-vertex"
)

DIFFERENCES: dict[Change, set[str]] = {
    nulls: RIG,
    not_thought: RIG,
    snake: {
        "llm-tools-with-gemini-3-thought-signatures#1",
        "rubyllm-chat-vision-models-gemini-gemini-2-5-flash-can-understand-local-images#0",
        "rubyllm-uploadedfile-live-uploads-gemini-gemini-2-5-flash-reuses-an-upload-3d4e29#0",
        f"{MULTIMODAL}#1",
        f"{MULTIMODAL}#2",
        f"{MULTIMODAL}#3",
    },
    empty_text: {"llm-tools-with-gemini-3-thought-signatures#1"},
}
"""Where the body that we would send is not the recorded one, and how; else they are equal."""


def _changes(exchange: Exchange) -> Iterator[Change]:
    name = exchange.id.removeprefix("gemini/").replace(".json#", "#")
    return (change for change, names in DIFFERENCES.items() if name in names)


@recorded("gemini")
def test_request(exchange: Exchange) -> None:
    body = exchange.request
    for change in _changes(exchange):
        changed = change(body)
        assert changed != body, "the table is wider than needed"
        body = changed
    assert ADAPTER.body(ADAPTER.request(exchange.request, exchange.url)) == body


@recorded("gemini", where=lambda e: "aiplatform" not in e.url)
def test_address(exchange: Exchange) -> None:
    """A stream is always asked for as events, and there is no key in the address."""
    request = ADAPTER.request(exchange.request, exchange.url)
    path = exchange.url.partition("?")[0]
    ours = ADAPTER.url(ADAPTER.base_url, request)
    assert ours == (f"{path}?alt=sse" if request.stream else path)
    assert request.stream == exchange.expected.streaming


@recorded("gemini", where=lambda e: e.status == 200 and e.streamed)
@pytest.mark.parametrize("pieces", [lines, single_bytes])
def test_stream_may_be_cut_anywhere(
    exchange: Exchange, pieces: Callable[[bytes], list[bytes]]
) -> None:
    whole = answer(exchange)
    assert read_stream(ADAPTER, pieces(exchange.data), framing(exchange)) == whole


@recorded("gemini", where=lambda e: e.status == 200 and e.streamed)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(positions=st.lists(st.integers(0, 2**16), max_size=20))
def test_stream_may_be_cut_at_random(exchange: Exchange, positions: list[int]) -> None:
    whole = answer(exchange)
    assert read_stream(ADAPTER, cut(exchange.data, positions), framing(exchange)) == whole

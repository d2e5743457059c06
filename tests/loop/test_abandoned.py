"""Cases SL-01, SL-02: a stream that is left before its end, of each provider."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from loopspan import RunStream, TextDelta, ToolLoop, connect
from loopspan.runs import ChatStep
from loopspan.testing import ScriptedModel, capture
from tests.loop.ways import loop_of


def chat(text: str) -> dict[str, Any]:
    return {"id": "1", "model": "m", "choices": [{"index": 0, "delta": {"content": text}}]}


def gemini(text: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}


def ollama(text: str) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}


def anthropic(text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def responses(text: str) -> dict[str, Any]:
    at = {"item_id": "i", "output_index": 0, "content_index": 0}
    return {"type": "response.output_text.delta", **at, "delta": text}


ANTHROPIC_HEAD: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "1", "model": "m", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
]
MESSAGE = {"type": "message", "id": "i", "role": "assistant", "content": []}
PART = {"type": "output_text", "text": "", "annotations": []}
RESPONSES_HEAD: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"id": "1", "model": "m", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": MESSAGE},
    {
        "type": "response.content_part.added",
        "item_id": "i",
        "output_index": 0,
        "content_index": 0,
        "part": PART,
    },
]
PROVIDERS: dict[str, tuple[list[dict[str, Any]], Callable[[str], dict[str, Any]]]] = {
    "openai": ([], chat),
    "groq": ([], chat),
    "mistral": ([], chat),
    "openrouter": ([], chat),
    "openai-responses": (RESPONSES_HEAD, responses),
    "anthropic": (ANTHROPIC_HEAD, anthropic),
    "gemini": ([], gemini),
    "ollama": ([], ollama),
}


class Endless(httpx.SyncByteStream):
    """A stream of text without an end, an event a chunk."""

    def __init__(self, provider: str) -> None:
        self.closed = False
        self._provider = provider

    def __iter__(self) -> Iterator[bytes]:
        head, made = PROVIDERS[self._provider]
        for event in head:
            yield self._framed(event)
        while True:
            yield self._framed(made("la"))

    def _framed(self, event: dict[str, Any]) -> bytes:
        text = json.dumps(event)
        return f"{text}\n".encode() if self._provider == "ollama" else f"data: {text}\n\n".encode()

    def close(self) -> None:
        self.closed = True


def by_break(stream: RunStream) -> int:
    with stream:
        count = 0
        for event in stream:
            count += isinstance(event, TextDelta)
            if count == 2:
                break
        return time.time_ns()


def by_close(stream: RunStream) -> int:
    pieces = (event for event in stream if isinstance(event, TextDelta))
    next(pieces), next(pieces)
    left_at = time.time_ns()
    stream.close()
    return left_at


@pytest.mark.parametrize("leave", [by_break, by_close])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_sl02_a_stream_that_is_left_has_one_span_with_what_had_come(
    provider: str, leave: Callable[[RunStream], int]
) -> None:
    endless = Endless(provider)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=endless))
    model = connect(f"{provider}:m", base_url="http://stub.invalid", key="made-up")
    with capture() as captured, httpx.Client(transport=transport) as client:
        loop = ToolLoop(model, client=client, tracer_provider=captured.provider, content="full")
        stream = loop.stream("Sing.")
        left_at = leave(stream)
        result = stream.result

    assert endless.closed
    chat, run = captured.spans
    for span in (chat, run):
        assert (span.attributes or {})["loopspan.outcome"] == "abandoned"
        assert span.status.status_code.name == "UNSET"
        assert left_at <= (span.end_time or 0) <= time.time_ns()
    assert (result.outcome, result.content, result.run.content) == ("abandoned", "lala", "lala")
    assert result.run == captured.run_trace.run(result.run_id)


def test_sl01_what_the_provider_never_sent_is_unknown() -> None:
    with capture() as captured:
        loop = loop_of(ScriptedModel(["Hello, hello, hello, hello, hello."]), [], captured)
        with loop.stream("Sing.", options=None) as stream:
            pieces = [e for e in stream_until(stream, 5) if isinstance(e, TextDelta)]
        result = stream.result

    assert len(pieces) == 5
    run = result.run
    assert (run.outcome, run.cost_usd) == ("abandoned", None)
    assert set(dict(run.usage).values()) == {None}
    [step] = [step for step in run.steps if isinstance(step, ChatStep)]
    assert (step.state, step.cost_usd, step.finish_reason) == ("cancelled", None, None)
    assert set(dict(step.usage).values()) == {None}
    for span in captured.spans:
        names = set(span.attributes or {})
        assert not {n for n in names if "tokens" in n and "estimated" not in n}
        assert "loopspan.cost.usd" not in names


def stream_until(stream: RunStream, count: int) -> Iterator[object]:
    """The events of a stream up to so many pieces of text."""
    for event in stream:
        count -= isinstance(event, TextDelta)
        yield event
        if not count:
            return

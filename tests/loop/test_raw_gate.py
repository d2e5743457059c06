"""The gate of raw bodies: without it nothing of them is kept, with it all bytes are there."""

import gc
import json
import tracemalloc
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import MessageToJson
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from loopspan import (
    AuthenticationError,
    BadResponse,
    RetryPolicy,
    ServerError,
    ToolLoop,
    ToolOptions,
    connect,
    tool,
)
from loopspan.runs import ChatStep, Run, read_runs
from loopspan.runs.otlp import spans as otlp_spans
from loopspan.telemetry import semconv as names
from loopspan.testing import JSON, Captured, ScriptedModel, calls, capture, span_tree
from loopspan.testing.leaks.wires import WIRES, Said
from tests.loop.ways import Way, each_streamed_way, each_way, loop_of

RAW = {names.RAW_REQUEST_EVENT, names.RAW_RESPONSE_EVENT}
GATED = ToolOptions().with_capture_raw()
GAP = " \t \t\t \t"
"""Space between two fields: it is in a raw body and in nothing that is made of it."""


@tool
def look(n: int) -> str:
    """Look."""
    return f"{n} is there"


def spaced(value: JSON) -> bytes:
    """A body that no part of a run has in common with what is decoded from it."""
    return json.dumps(value).replace(", ", f",{GAP}").encode()


def completion(message: JSON, finish: str) -> JSON:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 5}
    return {"id": "1", "model": "m", "choices": [choice], "usage": usage}


def answers(padding: str = "") -> list[bytes]:
    function = {"name": "look", "arguments": '{"n": 7}'}
    call = {"id": "c1", "type": "function", "function": function}
    return [
        spaced(completion({"content": None, "tool_calls": [call]}, "tool_calls"))
        + padding.encode(),
        spaced(completion({"content": "It is."}, "stop")) + padding.encode(),
    ]


def answering(bodies: list[bytes]) -> httpx.Client:
    left = iter(bodies)
    head = {"content-type": "application/json"}
    return httpx.Client(
        transport=httpx.MockTransport(
            lambda _: httpx.Response(200, headers=head, content=next(left))
        )
    )


def spans_of(captured: Captured) -> Any:
    """The whole trace, but for what ids and times of the machine change and for raw events."""
    [tree] = span_tree(captured.spans)
    without_raw(tree)
    return tree


def without_raw(node: JSON) -> None:
    node["events"] = [event for event in node["events"] if event not in RAW]
    node["attributes"].pop(names.RESPONSE_TIME_TO_FIRST_CHUNK, None)
    for child in node["children"]:
        without_raw(child)


@each_way
@pytest.mark.parametrize("content", ["off", "full"])
def test_the_gate_adds_raw_events_and_changes_nothing_else(way: Way, content: Any) -> None:
    made = {}
    for gated in (False, True):
        model = ScriptedModel([calls("look", id="c1", n=7), "It is. 😀"])
        with capture() as captured:
            loop = loop_of(model, [look], captured, content=content)
            result = way(loop, "Is it?", options=GATED if gated else None)
        events = [event.name for span in captured.spans for event in span.events]
        assert (set(events) >= RAW) is gated
        made[gated] = (model.wire, result.messages, result.outcome, spans_of(captured))
    assert made[False] == made[True]


def reachable(*roots: object) -> Iterator[object]:
    """All that is held by these, as far as the garbage collector knows; no code of programs."""
    seen: set[int] = set()
    todo = list(roots)
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, ModuleType | type | FunctionType):
            continue
        seen.add(id(item))
        yield item
        todo += gc.get_referents(item)


def holding(mark: str, *roots: object) -> list[object]:
    texts = (item for item in reachable(*roots) if isinstance(item, str | bytes | bytearray))
    as_text = (t if isinstance(t, str) else bytes(t).decode("utf-8", "replace") for t in texts)
    return [text for text in as_text if mark in text and text != mark]


@pytest.mark.parametrize("content", ["off", "full"])
@pytest.mark.parametrize("gated", [False, True])
def test_no_body_is_held_by_what_a_run_leaves_behind(content: Any, gated: bool) -> None:
    with capture() as captured:
        client = answering(answers())
        loop = ToolLoop(
            connect("openai:m", base_url="http://raw.invalid/v1"),
            [look],
            tracer_provider=captured.provider,
            content=content,
            client=client,
        )
        result = loop.run("Is it?", options=GATED if gated else None)
    client.close()
    del loop, client
    left = (result, captured, captured.run_trace.run(result.run_id))
    assert bool(holding(GAP, *left)) is gated
    assert bool(holding('"messages":[', *left)) is gated


def test_the_memory_of_a_recorded_run_does_not_grow_with_its_bodies() -> None:
    def kept(padding: str, options: ToolOptions | None) -> int:
        with capture() as captured:
            loop = ToolLoop(
                connect("openai:m", base_url="http://raw.invalid/v1"),
                [look],
                tracer_provider=captured.provider,
                content="full",
                client=answering(bodies := answers(padding)),
            )
            gc.collect()
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            result = loop.run("Is it?", options=options)
            gc.collect()
            size = tracemalloc.get_traced_memory()[0] - before
            tracemalloc.stop()
        assert result.content == "It is."
        assert len(bodies) == 2
        return size

    padding = " " * 1_000_000
    kept("", None)  # what is made once
    assert abs(kept(padding, None) - kept("", None)) < 100_000
    assert kept(padding, GATED) > 2_000_000


def chats(run: Run | None) -> list[ChatStep]:
    assert run is not None
    return [step for step in run.steps if isinstance(step, ChatStep)]


def from_json(captured: Captured) -> Run:
    [run] = read_runs(otlp_spans(json.loads(MessageToJson(encode_spans(captured.spans)))))
    return run


class Chunked(httpx.AsyncByteStream, httpx.SyncByteStream):
    """A body that comes in chunks of this size, wherever characters and events end."""

    def __init__(self, body: bytes, size: int) -> None:
        self._chunks = [body[at : at + size] for at in range(0, len(body), size)]

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    async def __aiter__(self) -> Any:
        for chunk in self._chunks:
            yield chunk


def loop_on(provider: str, captured: Captured, answer: Any, **settings: Any) -> ToolLoop:
    transport = httpx.MockTransport(answer)
    return ToolLoop(
        connect(f"{provider}:m", base_url="http://raw.invalid/v1", key="made-up"),
        tracer_provider=captured.provider,
        client=httpx.Client(transport=transport),
        async_client=httpx.AsyncClient(transport=transport),
        **settings,
    )


@each_streamed_way
@pytest.mark.parametrize("provider", WIRES)
def test_a_streamed_body_is_joined_again_from_its_parts(provider: str, way: Way) -> None:
    wire = WIRES[provider]
    long = "Zürich 😀 " * 12_000  # more than one part, cut within characters
    body = wire.stream(wire.events(wire.plain(Said(long, "Hm."))))
    kind = "application/x-ndjson" if wire.lines else "text/event-stream"
    sent: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        stream = Chunked(body, 1021)
        return httpx.Response(200, headers={"content-type": kind}, stream=stream)

    with capture() as captured:
        result = way(loop_on(provider, captured, answer), options=GATED)

    assert result.content == long
    [span] = [span for span in captured.spans if span.name == "chat m"]
    parts = [e for e in span.events if e.name == names.RAW_RESPONSE_EVENT]
    assert len(parts) > 3
    assert all(len(str((e.attributes or {})[names.RAW_BODY]).encode()) <= 32_768 for e in parts)
    for run in (result.run, captured.run_trace.run(result.run_id), from_json(captured)):
        [step] = chats(run)
        assert step.raw is not None
        assert (step.raw.response or "").encode() == body
        assert (step.raw.request or "").encode() == sent[0]


@each_way
def test_a_raw_answer_is_that_of_the_last_attempt(way: Way) -> None:
    bodies = [b'{"error":{"message":"busy"}}', b'{"error":{"message":"still busy"}}']
    left = iter(bodies)

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503, content=next(left))

    policy = RetryPolicy(attempts=2, base_delay=0.0)
    with capture() as captured, pytest.raises(ServerError) as raised:
        way(loop_on("openai", captured, answer, retry=policy), options=GATED)
    [step] = chats(captured.run_trace.run(raised.value.result.run_id))
    assert step.raw is not None
    assert (step.raw.response or "").encode() == bodies[1]


@each_streamed_way
def test_a_stream_that_breaks_off_shows_what_had_come(way: Way) -> None:
    body = b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\ndata: {"broken'

    def answer(request: httpx.Request) -> httpx.Response:
        head = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=head, stream=Chunked(body, 7))

    with capture() as captured, pytest.raises(BadResponse) as raised:
        way(loop_on("openai", captured, answer), options=GATED)
    [step] = chats(captured.run_trace.run(raised.value.result.run_id))
    assert step.raw is not None
    assert (step.raw.response or "").encode() == body


@pytest.mark.parametrize("provider", WIRES)
def test_headers_are_in_no_raw_body(provider: str) -> None:
    """The key stands in headers alone, and where a server repeats it, a mask stands for it."""
    key = "made-up-key-1234"

    def answer(request: httpx.Request) -> httpx.Response:
        said = json.dumps(dict(request.headers.items()))
        return httpx.Response(401, json={"error": {"message": said}})

    with capture() as captured:
        loop = ToolLoop(
            connect(f"{provider}:m", base_url="http://raw.invalid/v1", key=key),
            tracer_provider=captured.provider,
            content="full",
            client=httpx.Client(transport=httpx.MockTransport(answer)),
        )
        with pytest.raises(AuthenticationError):
            loop.run("Hi.", options=GATED)
    told = "".join(span.to_json() for span in captured.spans)
    assert key not in told
    assert names.RAW_RESPONSE_EVENT in told

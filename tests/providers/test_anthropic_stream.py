"""Streams of the Anthropic adapter, event by event."""

import json
from typing import Any

import pytest

from loopspan.errors import BadResponse, ProviderError, RateLimitError, ServerError
from loopspan.messages import Blob, Generic, Reasoning, Reply, Request, Text, ToolCall, Usage, user
from loopspan.providers.adapter import StreamState
from loopspan.providers.anthropic import Anthropic
from loopspan.providers.framing import Event
from tests.corpus import watch

ADAPTER = Anthropic()
PING = {"type": "ping"}
STOP = {"type": "message_stop"}


def start(**usage: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "model": "claude-1", "content": [], "usage": usage}
    return {"type": "message_start", "message": message}


def opened(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind} | fields}


def closed(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ending(reason: str = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def said(*pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(0, "text_delta", text=piece) for piece in pieces]
    return [opened(0, type="text", text=""), *deltas, closed(0)]


def sse(*events: dict[str, Any]) -> bytes:
    """Return a stream as the provider sends it."""
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def read(*events: dict[str, Any]) -> Reply:
    return watch(ADAPTER, [sse(*events)])[0]


def fed(*events: dict[str, Any]) -> StreamState:
    state = StreamState()
    for event in events:
        ADAPTER.event(state, Event(json.dumps(event), event["type"]))
    return state


def test_deltas_are_the_pieces_of_text_and_thinking() -> None:
    reply, deltas = watch(
        ADAPTER,
        [
            sse(
                start(),
                opened(0, type="thinking", thinking="", signature=""),
                delta(0, "thinking_delta", thinking="Hm"),
                delta(0, "signature_delta", signature="S"),
                closed(0),
                opened(1, type="text", text=""),
                delta(1, "text_delta", text="Hel"),
                delta(1, "text_delta", text="lo"),
                closed(1),
                ending(),
                STOP,
            )
        ],
    )
    assert deltas == [Reasoning("Hm"), Text("Hel"), Text("lo")]
    signed = Reasoning("Hm", extra={"anthropic": {"type": "thinking", "signature": "S"}})
    assert reply.message.parts == (signed, Text("Hello"))


def test_ping_may_come_anywhere() -> None:
    events = [start(), *said("Hel", "lo"), ending(), STOP]
    pinged = [PING, *(e for event in events for e in (event, PING))]
    assert read(*pinged) == read(*events)


def test_unknown_events_are_passed_over() -> None:
    assert read(start(), {"type": "weather", "x": 1}, *said("Hi"), ending(), STOP).message.text == (
        "Hi"
    )


def test_blanks_before_the_closing_brace() -> None:
    data = sse(start(), *said("Hi"), ending(), STOP).replace(b"}\n", b"   }\n")
    assert watch(ADAPTER, [data])[0].message.text == "Hi"


@pytest.mark.parametrize("deltas", [[], [delta(0, "input_json_delta", partial_json="")]])
def test_tool_without_arguments(deltas: list[dict[str, Any]]) -> None:
    shell = opened(0, type="tool_use", id="c1", name="now", input={})
    reply = read(start(), shell, *deltas, closed(0), ending("tool_use"), STOP)
    assert reply.message.tool_calls == (ToolCall("now", {}, "c1"),)
    assert reply.finish_reason == "tool_call"


def test_arguments_that_came_at_the_start_stay() -> None:
    shell = opened(0, type="tool_use", id="c1", name="add", input={"a": 1})
    empty = delta(0, "input_json_delta", partial_json="")
    reply = read(start(), shell, empty, closed(0), ending("tool_use"), STOP)
    assert reply.message.tool_calls[0].arguments == {"a": 1}


def test_usage_that_cannot_be_read_is_unknown() -> None:
    first = start() | {"message": {"content": [], "usage": 7}}
    last = ending() | {"usage": [1]}
    assert read(first, *said("Hi"), last, STOP).usage == Usage()


def test_parallel_tools_even_with_mixed_deltas() -> None:
    reply = read(
        start(),
        opened(0, type="tool_use", id="c1", name="add", input={}),
        opened(1, type="tool_use", id="c2", name="mul", input={}),
        delta(1, "input_json_delta", partial_json='{"b"'),
        delta(0, "input_json_delta", partial_json='{"a": '),
        delta(0, "input_json_delta", partial_json="1}"),
        delta(1, "input_json_delta", partial_json=": 2}"),
        closed(0),
        closed(1),
        ending("tool_use"),
        STOP,
    )
    assert reply.message.tool_calls == (
        ToolCall("add", {"a": 1}, "c1"),
        ToolCall("mul", {"b": 2}, "c2"),
    )


def test_arguments_that_were_cut_stay_text() -> None:
    reply = read(
        start(),
        opened(0, type="tool_use", id="c1", name="add", input={}),
        delta(0, "input_json_delta", partial_json='{"a": '),
        closed(0),
        ending("max_tokens"),
        STOP,
    )
    assert reply.message.tool_calls[0].arguments == '{"a": '
    assert reply.finish_reason == "length"


def test_citations_and_unknown_deltas_are_kept() -> None:
    reply = read(
        start(),
        *said("Hi")[:-1],
        delta(0, "citations_delta", citation={"n": 1}),
        delta(0, "citations_delta", citation={"n": 2}),
        closed(0),
        opened(1, type="compaction", content=None),
        delta(1, "compaction_delta", content="Sum", encrypted_content="E"),
        closed(1),
        ending(),
        STOP,
    )
    text, compaction = reply.message.parts
    assert text == Text("Hi", extra={"anthropic": {"citations": [{"n": 1}, {"n": 2}]}})
    assert isinstance(compaction, Generic)
    assert compaction.body == {"type": "compaction", "content": "Sum", "encrypted_content": "E"}


def test_tk_03_input_is_what_the_provider_reports() -> None:
    image = Blob("image", "A" * 270_000, "image/png")
    request = Request("claude", (user("What is this?", image),), stream=True)
    assert len(json.dumps(ADAPTER.body(request))) > 270_000
    reply = read(
        start(input_tokens=310, output_tokens=1), *said("A."), ending(output_tokens=4), STOP
    )
    assert reply.usage == Usage(310, 4)


def test_tk_05_input_of_the_first_event_stands() -> None:
    reply = read(
        start(input_tokens=42, output_tokens=1), *said("Hi"), ending(output_tokens=17), STOP
    )
    assert reply.usage == Usage(42, 17)


def test_cumulative_counts_replace() -> None:
    first: dict[str, Any] = {
        "input_tokens": 3,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 0,
    }
    reply = read(
        start(**first, output_tokens=88), *said("Hi"), ending(**first, output_tokens=90), STOP
    )
    assert reply.usage == Usage(13, 90, 10, 0)


def test_only_counts_are_those_of_the_first_event() -> None:
    assert read(start(input_tokens=3, output_tokens=5), *said("Hi"), ending(), STOP).usage == (
        Usage(3, 5)
    )


def test_gateway_tells_the_counts_and_the_cost_at_the_end() -> None:
    unknown = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": None}
    events = [start(**unknown), *said("Hi"), ending(input_tokens=32, output_tokens=16, cost=0.5)]
    reply = watch(ADAPTER, [sse(*events, STOP) + b"event: data\ndata: [DONE]\n\n"])[0]
    assert (reply.usage, reply.cost_usd) == (Usage(32, 16), 0.5)


def test_sl_01_broken_off_stream_gives_what_had_arrived() -> None:
    state = fed(start(input_tokens=42, output_tokens=1), *said("Hel", "lo")[:-1])
    reply = ADAPTER.partial(state)
    assert reply is not None
    assert (reply.message.text, reply.finish_reason) == ("Hello", "error")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (42, None)
    assert reply.cost_usd is None
    with pytest.raises(BadResponse, match="before its last event"):
        ADAPTER.finish(state)


def test_sl_02_two_events_are_enough_for_a_part_and_none_for_nothing() -> None:
    reply = ADAPTER.partial(fed(start(input_tokens=0, output_tokens=0), *said("Hi")[:2]))
    assert reply is not None
    assert (reply.message.text, reply.usage) == ("Hi", Usage())
    assert ADAPTER.partial(StreamState()) is None


def test_sl_02_call_that_broke_off_does_not_look_whole() -> None:
    shell = opened(0, type="tool_use", id="c1", name="add", input={})
    reply = ADAPTER.partial(fed(start(), shell, delta(0, "input_json_delta", partial_json='{"a"')))
    assert reply is not None
    assert reply.message.tool_calls[0].arguments == '{"a"'


def test_stream_without_its_very_last_event_is_whole() -> None:
    assert read(start(), *said("Hi"), ending()).finish_reason == "stop"


@pytest.mark.parametrize(
    ("kind", "cls"), [("overloaded_error", ServerError), ("rate_limit_error", RateLimitError)]
)
def test_error_in_a_stream(kind: str, cls: type[ProviderError]) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "No."}, "request_id": "req_1"}
    with pytest.raises(cls) as caught:
        read(start(), *said("Hi"), error)
    assert (caught.value.code, caught.value.request_id) == (kind, "req_1")
    assert caught.value.retryable


def test_error_event_without_an_error_object_is_an_error() -> None:
    with pytest.raises(BadResponse):
        watch(ADAPTER, [sse(start()) + b'event: error\ndata: {"oops": 1}\n\n'])


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start"},
        {"type": "content_block_start"},
        delta(3, "text_delta", text="no such block"),
        {"type": "message_delta", "delta": 7},
    ],
    ids=lambda event: event["type"],
)
def test_event_of_another_shape_is_a_bad_response(event: dict[str, Any]) -> None:
    with pytest.raises(BadResponse):
        read(start(), event, ending(), STOP)

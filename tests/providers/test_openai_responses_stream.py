"""Streams of the Responses adapter: what their events make, and what is left of a broken one."""

import json
from typing import Any

import pytest

from loopspan.errors import BadResponse, RateLimitError, ServerError
from loopspan.messages import Reasoning, Reply, Text
from loopspan.providers.adapter import StreamState
from loopspan.providers.framing import Event
from loopspan.providers.openai_responses import OpenAIResponses
from tests.corpus import read_stream, watch

ADAPTER = OpenAIResponses()

Wire = dict[str, Any]


def sse(*events: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def response(word: str, status: str = "in_progress", **fields: Any) -> Wire:
    body = {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": [],
        "usage": None,
        **fields,
    }
    return {"type": f"response.{word}", "response": body}


def event(kind: str, index: int = 0, **fields: Any) -> Wire:
    return {"type": f"response.{kind}", "output_index": index, "item_id": "i", **fields}


def said(*pieces: str, index: int = 0) -> list[Wire]:
    """A message of one text, as the API streams it."""
    item: Wire = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    part: Wire = {"type": "output_text", "annotations": [], "text": ""}
    whole = part | {"text": "".join(pieces)}
    at: Wire = {"index": index, "content_index": 0}
    return [
        event("output_item.added", index, item=item),
        event("content_part.added", **at, part=part),
        *(event("output_text.delta", **at, delta=piece) for piece in pieces),
        event("output_text.done", **at, text=whole["text"]),
        event("content_part.done", **at, part=whole),
        event("output_item.done", index, item=item | {"content": [whole]}),
    ]


def thought(*pieces: str, index: int = 0) -> list[Wire]:
    """A summary of thinking; its item is whole only in the end."""
    item: Wire = {"type": "reasoning", "id": "rs_1", "encrypted_content": "cut", "summary": []}
    part: Wire = {"type": "summary_text", "text": "".join(pieces)}
    at: Wire = {"index": index, "summary_index": 0}
    return [
        event("output_item.added", index, item=item),
        event("reasoning_summary_part.added", **at, part=part | {"text": ""}),
        *(event("reasoning_summary_text.delta", **at, delta=piece) for piece in pieces),
        event("reasoning_summary_text.done", **at, text=part["text"]),
        event("reasoning_summary_part.done", **at, part=part),
        event("output_item.done", index, item=item | {"encrypted_content": "E", "summary": [part]}),
    ]


def called(*pieces: str, index: int = 0, name: str = "add") -> list[Wire]:
    """A call of a function."""
    call_id = f"call_{index}"
    item = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name}
    whole = "".join(pieces)
    return [
        event("output_item.added", index, item=item | {"arguments": ""}),
        *(event("function_call_arguments.delta", index, delta=piece) for piece in pieces),
        event("function_call_arguments.done", index, arguments=whole),
        event("output_item.done", index, item=item | {"arguments": whole}),
    ]


EVENTS: list[Wire] = [
    response("created"),
    response("queued", "queued"),
    response("in_progress"),
    *thought("Let ", "me see."),
    *said("Hel", "lo", index=1),
    *called('{"a"', ": 1}", index=2),
    event("output_text.annotation.added", 1, content_index=0, annotation={"type": "url_citation"}),
    response("completed", "completed", usage={"input_tokens": 3, "output_tokens": 2}),
]


def partial(*events: Any) -> Reply:
    """Read a stream that breaks after these events."""
    state = StreamState()
    for data in events:
        ADAPTER.event(state, Event(json.dumps(data)))
    with pytest.raises(BadResponse, match="last event"):
        ADAPTER.finish(state)
    reply = ADAPTER.partial(state)
    assert reply is not None
    return reply


def test_stream_is_thinking_text_and_calls_in_their_order() -> None:
    reply, deltas = watch(ADAPTER, [sse(*EVENTS)])
    message = reply.message
    assert [part.type for part in message.parts] == ["reasoning", "text", "tool_call"]
    assert (message.reasoning, message.text) == ("Let me see.", "Hello")
    assert message.tool_calls[0].arguments == {"a": 1}
    assert (reply.finish_reason, reply.finish_reason_raw) == ("tool_call", "completed")
    assert deltas == [Reasoning("Let "), Reasoning("me see."), Text("Hel"), Text("lo")]


def test_thinking_to_send_back_is_that_of_the_whole_item() -> None:
    """What the item held when it began may be cut: openai/openai-python#3615."""
    reply = read_stream(ADAPTER, [sse(*EVENTS)])
    item = reply.message.parts[0].own("openai-responses")["item"]
    assert item["encrypted_content"] == "E"


def test_tc01_pieces_of_two_calls_in_turn_stay_apart() -> None:
    first, second = called("", '{"a"', ": 1", "}"), called("", '{"b"', ": 2", "}", index=1)
    events = [e for pair in zip(first, second, strict=True) for e in pair]
    reply = read_stream(ADAPTER, [sse(response("created"), *events, EVENTS[-1])])
    assert [(c.id, c.arguments) for c in reply.message.tool_calls] == [
        ("call_0", {"a": 1}),
        ("call_1", {"b": 2}),
    ]


def test_as01_stream_whose_last_event_is_whole_reads_as_that() -> None:
    output = [e["item"] for e in EVENTS if e["type"] == "response.output_item.done"]
    last = response("completed", "completed", output=output, service_tier="flex")
    whole = ADAPTER.reply(last["response"])
    assert read_stream(ADAPTER, [sse(*EVENTS[:-1], last)]) == whole
    assert read_stream(ADAPTER, [sse(last)]) == whole


def test_text_of_an_item_that_was_not_announced() -> None:
    events = [e for e in said("Hel", "lo") if e["type"].endswith((".delta", "text.done"))]
    reply = read_stream(ADAPTER, [sse(response("created"), *events, EVENTS[-1])])
    assert reply.message.text == "Hello"


def test_text_and_arguments_that_come_at_once() -> None:
    text, call = said("Hello"), called('{"a": 1}', index=1)
    events = [e for e in (*text, *call) if not e["type"].endswith((".delta", "part.done"))]
    events = [e for e in events if e["type"] != "response.output_item.done"]
    reply = read_stream(ADAPTER, [sse(response("created"), *events, EVENTS[-1])])
    assert reply.message.text == "Hello"
    assert reply.message.tool_calls[0].arguments == {"a": 1}


def test_event_of_an_unknown_kind_changes_nothing() -> None:
    odd = [event("hologram.delta", delta="x"), {"type": "ping"}, {"x": 1}]
    assert read_stream(ADAPTER, [sse(*odd, *EVENTS)]) == read_stream(ADAPTER, [sse(*EVENTS)])


def test_refusal_is_text() -> None:
    at: Wire = {"content_index": 0}
    events = [
        event("output_item.added", item=said("")[0]["item"]),
        event("content_part.added", **at, part={"type": "refusal", "refusal": ""}),
        event("refusal.delta", **at, delta="I can"),
        event("refusal.delta", **at, delta="not."),
        event("refusal.done", **at, refusal="I cannot."),
    ]
    reply, deltas = watch(ADAPTER, [sse(*events, EVENTS[-1])])
    assert reply.message.text == "I cannot."
    assert deltas == [Text("I can"), Text("not.")]


def test_raw_thinking_is_streamed_as_thinking() -> None:
    at: Wire = {"content_index": 0}
    item: Wire = {"type": "reasoning", "id": "rs_1", "summary": [], "content": None}
    events = [
        event("output_item.added", item=item),
        event("reasoning_text.delta", **at, delta="Hm"),
        event("reasoning_text.delta", **at, delta="m"),
    ]
    reply, deltas = watch(ADAPTER, [sse(*events, EVENTS[-1])])
    assert reply.message.reasoning == "Hmm"
    assert deltas == [Reasoning("Hm"), Reasoning("m")]


def test_custom_call_is_its_input() -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": ""}
    events = [
        event("output_item.added", item=item),
        event("custom_tool_call_input.delta", delta="ls "),
        event("custom_tool_call_input.delta", delta="-l"),
    ]
    reply = read_stream(ADAPTER, [sse(*events, EVENTS[-1])])
    assert [(c.name, c.arguments) for c in reply.message.tool_calls] == [("sh", "ls -l")]
    assert reply.finish_reason == "tool_call"


def test_broken_stream_leaves_what_had_come() -> None:
    events = [response("created"), *thought("Hm"), *said("Hel", "lo", index=1)[:3]]
    reply = partial(*events)
    assert (reply.message.reasoning, reply.message.text) == ("Hm", "Hel")
    assert (reply.finish_reason, reply.finish_reason_raw) == ("error", "in_progress")
    assert reply.usage.input_tokens is None
    assert reply.response_id == "resp_1"


def test_broken_stream_leaves_cut_arguments_as_text() -> None:
    reply = partial(response("created"), *called('{"a": ', "1}")[:2])
    assert reply.message.tool_calls[0].arguments == '{"a": '


def test_queued_response_has_not_answered() -> None:
    assert partial(response("queued", "queued")).finish_reason_raw == "queued"


@pytest.mark.parametrize(
    "error",
    [
        {
            "type": "error",
            "error": {"type": "server_error", "code": "server_error", "message": "x"},
        },
        {"type": "error", "code": "server_error", "message": "x", "param": None},
        response("failed", "failed", error={"code": "server_error", "message": "x"}),
    ],
)
def test_error_in_a_stream_is_raised(error: Wire) -> None:
    state = StreamState()
    for data in [response("created"), *said("Hel")[:3]]:
        ADAPTER.event(state, Event(json.dumps(data)))
    with pytest.raises(ServerError) as raised:
        ADAPTER.event(state, Event(json.dumps(error), error["type"]))
    assert (raised.value.message, raised.value.code) == ("x", "server_error")
    left = ADAPTER.partial(state)
    assert left is not None
    assert left.message.text == "Hel"


def test_rate_limit_in_a_stream_tells_how_long_to_wait() -> None:
    message = "Rate limit reached. Please try again in 1.5s."
    error = {"type": "error", "error": {"code": "rate_limit_exceeded", "message": message}}
    with pytest.raises(RateLimitError) as raised:
        read_stream(ADAPTER, [sse(response("created"), error)])
    assert raised.value.retry_after == 1.5


def test_error_and_the_failed_response_after_it_are_one_error() -> None:
    error = {"code": "invalid_prompt", "message": "x"}
    failed = response("failed", "failed", error=error)
    events = sse(response("created"), {"type": "error", "error": error}, failed)
    with pytest.raises(BadResponse) as raised:
        read_stream(ADAPTER, [events])
    assert raised.value.code == "invalid_prompt"
    assert raised.value.body["type"] == "error"


def test_failed_response_without_an_error_is_a_reply() -> None:
    reply = read_stream(ADAPTER, [sse(*EVENTS[:-1], response("failed", "failed"))])
    assert (reply.finish_reason, reply.finish_reason_raw) == ("error", "failed")
    assert reply.message.text == "Hello"

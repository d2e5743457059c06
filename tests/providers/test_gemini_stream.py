"""Streams of the Gemini adapter: how they are assembled, and what people watch meanwhile."""

import json
from typing import Any

import pytest

from loopspan.errors import BadResponse, ServerError
from loopspan.messages import Message, Reasoning, Reply, Text, ToolCall, Usage
from loopspan.providers.adapter import StreamState
from loopspan.providers.framing import Event
from loopspan.providers.gemini import Gemini
from tests.corpus import Exchange, read, read_stream, recorded, watch

ADAPTER = Gemini()


def event(*parts: Any, finish: str | None = None, index: int = 0, **fields: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    if index:
        candidate["index"] = index
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "g"} | fields


def call(**fields: Any) -> dict[str, Any]:
    return {"functionCall": fields}


def sse(*events: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(e).encode() + b"\r\n\r\n" for e in events)


def streamed(*events: Any) -> Reply:
    return read_stream(ADAPTER, [sse(*events)])


def partial(*events: Any) -> Reply | None:
    state = StreamState()
    for e in events:
        ADAPTER.event(state, Event(json.dumps(e)))
    return ADAPTER.partial(state)


def test_text_is_joined_and_watched() -> None:
    events = [
        event({"text": "Hm", "thought": True}),
        event({"text": "m.", "thought": True}),
        event({"text": "Hel"}),
        event({"text": "lo"}, {"text": ""}, finish="STOP"),
    ]
    reply, deltas = watch(ADAPTER, [sse(*events)])
    assert reply.message.parts == (
        Reasoning("Hmm.", extra={"gemini": {"thought": True}}),
        Text("Hello"),
    )
    assert deltas == [Reasoning("Hm"), Reasoning("m."), Text("Hel"), Text("lo")]


def test_signature_does_not_run_into_other_text() -> None:
    signed = {"text": "", "thoughtSignature": "S"}
    reply = streamed(event({"text": "a"}), event(signed), event({"text": "b"}, finish="STOP"))
    own = {"gemini": {"thoughtSignature": "S"}}
    assert reply.message.parts == (Text("a"), Text("", extra=own), Text("b"))


def test_json_array_is_read_like_events() -> None:
    events = [event({"text": "Hel"}), event({"text": "lo"}, finish="STOP")]
    array = json.dumps(events, indent=1).encode()
    assert read_stream(ADAPTER, [array], "json-array") == streamed(*events)


def test_last_usage_wins_field_by_field() -> None:
    reply = streamed(
        event({"text": "a"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 1}),
        event({"text": "b"}, usageMetadata={"promptTokenCount": 7, "candidatesTokenCount": 2}),
        event(finish="STOP", usageMetadata={"trafficType": "ON_DEMAND"}),
    )
    assert reply.usage == Usage(7, 2)


def test_text_after_the_first_finish_reason_is_kept_and_the_last_one_wins() -> None:
    reply = streamed(event({"text": "a"}, finish="STOP"), event({"text": "b"}, finish="MAX_TOKENS"))
    assert (reply.message.text, reply.finish_reason) == ("ab", "length")


def test_last_chunk_may_have_no_parts() -> None:
    last = {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}
    assert streamed(event({"text": "a"}), last).message == Message("assistant", (Text("a"),))


def test_candidates_are_told_apart_and_in_order() -> None:
    events = [
        event({"text": "B"}, index=1),
        event({"text": "A"}),
        event({"text": "b"}, index=1, finish="STOP"),
        event({"text": "a"}, finish="STOP"),
    ]
    reply, deltas = watch(ADAPTER, [sse(*events)])
    assert [choice.message.text for choice in reply.choices] == ["Aa", "Bb"]
    assert deltas == [Text("A"), Text("a")]


def test_as_05_blocked_prompt_ends_its_stream() -> None:
    reply = streamed({"promptFeedback": {"blockReason": "SAFETY"}})
    assert (reply.finish_reason, reply.finish_reason_raw) == ("content_filter", "SAFETY")


@pytest.mark.parametrize(
    "events",
    [
        [event({"text": "a"})],
        [event({"text": "a"}, finish="STOP"), event({"text": "b"}, index=1)],
        [],
    ],
)
def test_stream_without_an_end_broke_off(events: list[Any]) -> None:
    with pytest.raises(BadResponse):
        streamed(*events)


def test_what_had_arrived_of_a_broken_stream() -> None:
    reply = partial(event({"text": "a"}, usageMetadata={"promptTokenCount": 5}))
    assert reply is not None
    assert (reply.message.text, reply.finish_reason, reply.usage) == ("a", "error", Usage(5))
    assert partial() is None


def test_error_in_mid_stream_is_raised() -> None:
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    with pytest.raises(ServerError):
        streamed(event({"text": "a"}), error)


def piece(path: str, go_on: bool = False, **value: Any) -> dict[str, Any]:
    return call(partialArgs=[{"jsonPath": path, "willContinue": go_on, **value}], willContinue=True)


def called(*pieces: dict[str, Any]) -> ToolCall:
    start = call(name="set", id="c1", willContinue=True) | {"thoughtSignature": "S"}
    reply = streamed(event(start), *(event(p) for p in pieces), event(call()), event(finish="STOP"))
    assert reply.finish_reason == "tool_call"
    (found,) = reply.message.tool_calls
    return found


def test_arguments_may_come_in_pieces() -> None:
    found = called(
        piece("$.city", True, stringValue="Bos"),
        piece("$.city", stringValue="ton"),
        piece("$.n", numberValue=2),
        piece("$.on", boolValue=False),
        piece("$.none", nullValue=None),
        piece("$.nil", nullValue="NULL_VALUE"),
        piece("$.deep.list[0].x", stringValue="a"),
        piece("$.deep.list[1].x", stringValue="b"),
        piece("$['a.b'][\"c'\\\"d\"]", numberValue=1),
        piece("$.open", True),
    )
    assert found == ToolCall(
        "set",
        {
            "city": "Boston",
            "n": 2,
            "on": False,
            "none": None,
            "nil": None,
            "deep": {"list": [{"x": "a"}, {"x": "b"}]},
            "a.b": {"c'\"d": 1},
        },
        "c1",
        extra={"gemini": {"thoughtSignature": "S", "functionCall": {"id": "c1"}}},
    )


def test_pieces_that_come_whole_add_up() -> None:
    found = called(call(args={"a": 1}), call(args={"b": 2}))
    assert found.arguments == {"a": 1, "b": 2}


def test_two_calls_in_pieces() -> None:
    reply = streamed(
        event(call(name="a", willContinue=True)),
        event(piece("$.x", stringValue="1")),
        event(call()),
        event(call(name="b", willContinue=True), piece("$.x", stringValue="2")),
        event(call(), finish="STOP"),
    )
    assert [(c.name, c.arguments) for c in reply.message.tool_calls] == [
        ("a", {"x": "1"}),
        ("b", {"x": "2"}),
    ]


def test_end_of_no_call_says_nothing() -> None:
    assert streamed(event(call(), {"text": "a"}, finish="STOP")).message.parts == (Text("a"),)


@pytest.mark.parametrize(
    "path", ["", "x", "$", "$x", "$.a b[", "$[-1]", "$[0]", "$.l[5]", "$.s.t", "$.l.x", 5, None]
)
def test_path_that_leads_nowhere_is_no_answer(path: Any) -> None:
    with pytest.raises(BadResponse):
        called(
            piece("$.s", stringValue="s"),
            piece("$.l[0]", numberValue=1),
            piece(path, boolValue=True),
        )


@recorded("gemini", where=lambda e: e.status == 200 and not e.streamed)
def test_as_01_streamed_reply_is_the_plain_one(exchange: Exchange) -> None:
    """Each part comes in an event of its own, text in two; the end and the usage come last."""
    body = exchange.response
    shared = {name: body[name] for name in ("responseId", "modelVersion")}
    events: list[dict[str, Any]] = []
    for candidate in body.get("candidates", ()):
        for part in candidate.get("content", {}).get("parts", ()):
            pieces = [part]
            if "text" in part and "thoughtSignature" not in part:
                pieces = [part | {"text": part["text"][:9]}, part | {"text": part["text"][9:]}]
            events += ({"candidates": [{"content": {"parts": [p]}}], **shared} for p in pieces)
        ending = {k: v for k, v in candidate.items() if k != "content"}
        events.append({"candidates": [ending], **shared})
    rest = {k: v for k, v in body.items() if k != "candidates"}
    assert streamed(*events, rest) == read(ADAPTER, exchange)

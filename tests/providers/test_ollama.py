"""Answers and errors of the Ollama adapter."""

import json
from typing import Any

import pytest

from loopspan.errors import (
    BadResponse,
    NotFoundError,
)
from loopspan.messages import (
    Extra,
    Generic,
    Message,
    Parameters,
    Reasoning,
    Reply,
    Request,
    Text,
    ToolCallResponse,
    Usage,
    user,
)
from loopspan.providers.adapter import Delta, StreamState
from loopspan.providers.framing import Event
from loopspan.providers.ollama import Ollama
from tests import corpus

OLLAMA = Ollama()
THINK_INLINE = "ollama/rig-native-inline-think-whole.json#0"


def own(**details: Any) -> Extra:
    return {"ollama": details}


def body(message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    made = {"model": "m", "created_at": "2026-01-02T03:04:05Z", "done": True, "done_reason": "stop"}
    return {**made, "message": {"role": "assistant", "content": "", **message}, **fields}


def call(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **fields}


def wire(*messages: Message, **settings: Any) -> dict[str, Any]:
    return OLLAMA.body(Request("m", messages, parameters=Parameters(**settings)))


# Answers


def test_ll02_stop_with_a_call_is_a_tool_call() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", {"a": 1})]}))
    assert (reply.finish_reason, reply.finish_reason_raw) == ("tool_call", "stop")
    assert [(c.name, c.arguments) for c in reply.message.tool_calls] == [("f", {"a": 1})]


@pytest.mark.parametrize("field", ["thinking", "reasoning"])
@pytest.mark.parametrize("streamed", [False, True])
def test_ll03_thinking_without_an_answer_is_cut_by_length(field: str, streamed: bool) -> None:
    answer = body({field: "so long"}, done_reason="length")
    reply = _both(answer)[streamed]
    assert (reply.finish_reason, reply.finish_reason_raw) == ("length", "length")
    assert (reply.message.text, reply.message.reasoning) == ("", "so long")


def test_length_with_a_call_stays_length() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", {})]}, done_reason="length"))
    assert reply.finish_reason == "length"


def test_missing_and_unknown_finish_reasons() -> None:
    unknown, missing = (OLLAMA.reply(body({}, done_reason=word)) for word in ("load", None))
    assert (unknown.finish_reason, unknown.finish_reason_raw) == ("load", "load")
    assert (missing.finish_reason, missing.finish_reason_raw) == ("error", None)


@pytest.mark.parametrize(
    "answer",
    [
        body({"content": "Hello there"}, prompt_eval_count=4, eval_count=2),
        body({"content": "hi", "thinking": "hm"}, prompt_eval_cached_count=3),
        body({"content": "<think>\nhm\n</think>\n\nhi"}),
        body({"content": "hm\n</think>\n\nhi", "tool_calls": [call("f", {}), call("f", {})]}),
        body({"tool_calls": [call("f", {"a": 1}, id="call_1"), call("g", {}, id="call_2")]}),
        body({"content": "hi", "hologram": {"x": 1}}),
    ],
)
def test_as01_streamed_and_whole_answers_are_the_same(answer: dict[str, Any]) -> None:
    whole, streamed = _both(answer)
    assert streamed == whole


def _both(answer: dict[str, Any]) -> tuple[Reply, Reply]:
    """Read an answer whole, and as the stream of two-letter pieces that the server would send."""
    message = dict(answer["message"])
    pieces: list[dict[str, Any]] = []
    for field in ("thinking", "reasoning", "content"):
        text = message.pop(field, "")
        pieces += ({"content": "", field: text[i : i + 2]} for i in range(0, len(text), 2))
    pieces += ({"content": "", "tool_calls": [c]} for c in message.pop("tool_calls", ()))
    pieces += ({"content": "", k: v} for k, v in message.items() if k != "role")
    head = {"model": answer["model"], "created_at": "2026-01-01T00:00:00Z", "done": False}
    lines = [head | {"message": {"role": "assistant", **piece}} for piece in pieces]
    lines.append(answer | {"message": {"role": "assistant", "content": ""}})
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return OLLAMA.reply(answer), corpus.read_stream(OLLAMA, corpus.lines(data))


def test_ids_that_the_server_does_not_give_are_stable_unique_and_kept_here() -> None:
    calls = {"tool_calls": [call("f", {}), call("f", {})]}
    first, again, later = (
        OLLAMA.reply(body(calls, created_at=at)).message for at in ("1", "1", "2")
    )
    ids = [c.id for m in (first, later) for c in m.tool_calls]
    assert len(set(ids)) == 4
    assert first == again
    result = Message("tool", (ToolCallResponse("1", ids[1], "f"),))
    assert wire(first, result)["messages"] == [
        {"role": "assistant", "content": "", **calls},
        {"role": "tool", "content": "1", "tool_name": "f"},
    ]


def test_made_ids_of_a_request_are_unique_in_it() -> None:
    asked = {"role": "assistant", "content": "", "tool_calls": [call("f", {}), call("f", {})]}
    decoded = OLLAMA.request({"model": "m", "messages": [asked, asked]})
    assert len({c.id for m in decoded.messages for c in m.tool_calls}) == 4


def test_id_of_the_server_is_kept_and_sent_back() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", {}, id="call_1")]}))
    (asked,) = reply.message.tool_calls
    assert asked.id == "call_1"
    sent = wire(reply.message, Message("tool", (ToolCallResponse("1", asked.id, "f"),)))
    assert sent["messages"][0]["tool_calls"][0]["id"] == "call_1"
    assert sent["messages"][1]["tool_call_id"] == "call_1"


@pytest.mark.parametrize("arguments", ["", None, {}])
def test_tc02_no_arguments_are_an_empty_object(arguments: Any) -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", arguments)]}))
    assert reply.message.tool_calls[0].arguments == {}


def test_tc02_absent_arguments_are_an_empty_object() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [{"function": {"name": "f"}}]}))
    assert reply.message.tool_calls[0].arguments == {}


def test_as06_unknown_field_of_a_message_is_kept() -> None:
    parts = OLLAMA.reply(body({"content": "hi", "hologram": {"x": 1}})).message.parts
    assert parts == (Text("hi"), Generic("hologram", {"x": 1}, extra=own(field=True)))


def test_missing_counts_are_unknown() -> None:
    assert OLLAMA.reply(body({}, eval_count=3)).usage == Usage(None, 3)


def test_cached_count_is_a_part_of_the_input() -> None:
    exchange = corpus.exchange(THINK_INLINE)
    usage = corpus.read(OLLAMA, exchange).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (23, 22)


def test_stray_end_of_thinking_splits_the_recorded_text() -> None:
    message = corpus.read(OLLAMA, corpus.exchange(THINK_INLINE)).message
    assert message.text == "4"
    assert message.reasoning.startswith("Okay, the user asked")


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([{"content": "a <"}, {"content": "thi"}], [Text("a"), Text(" <thi")]),
        ([{"content": "a </thi"}], [Text("a"), Text(" </thi")]),
        ([{"content": "<think>a "}, {"content": "</think>b"}], [Reasoning("a"), Text("b")]),
        ([{"thinking": "a"}, {"content": "b </think>"}], [Reasoning("a"), Text("b </think>")]),
        ([{"reasoning": "a"}, {"content": "b"}], [Reasoning("a"), Text("b")]),
    ],
)
def test_deltas_are_all_of_the_text(pieces: list[dict[str, str]], shown: list[Delta]) -> None:
    lines = [{"message": {"content": "", **piece}, "done": False} for piece in pieces]
    data = [json.dumps(line).encode() + b"\n" for line in [*lines, body({})]]
    assert corpus.watch(OLLAMA, data)[1] == shown


def test_tag_in_the_text_of_a_user_stays_text() -> None:
    said = {"role": "user", "content": "<think>hm</think> what is that?"}
    decoded = OLLAMA.request({"model": "m", "messages": [said]})
    assert decoded.messages == (user(said["content"]),)


def test_tag_in_an_answer_with_thinking_apart_stays_text() -> None:
    message = OLLAMA.reply(body({"content": "a </think> b", "thinking": "hm"})).message
    assert (message.text, message.reasoning) == ("a </think> b", "hm")


# Errors and broken answers


def test_error_of_the_server_is_its_message() -> None:
    error = OLLAMA.error(404, {"error": "model 'x' not found"})
    assert isinstance(error, NotFoundError)
    assert error.message == "model 'x' not found"


def test_error_line_of_a_stream_is_raised() -> None:
    state = StreamState()
    OLLAMA.event(state, Event('{"model":"m","message":{"content":"He"},"done":false}'))
    with pytest.raises(BadResponse, match="an error was encountered"):
        OLLAMA.event(state, Event('{"error":"an error was encountered while running the model"}'))
    partial = OLLAMA.partial(state)
    assert partial is not None
    assert (partial.message.text, partial.finish_reason) == ("He", "error")


def test_line_of_a_stream_that_is_no_json_is_an_error() -> None:
    with pytest.raises(BadResponse):
        OLLAMA.event(StreamState(), Event("panic: out of memory"))


def test_stream_without_its_last_line_broke_off() -> None:
    line = b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n'
    with pytest.raises(BadResponse, match="last event"):
        corpus.read_stream(OLLAMA, [line])

"""Streams of the chat-completions family."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.errors import BadResponse
from loopspan.messages import Blob, Text, ToolCall, Usage
from loopspan.providers.adapter import StreamState
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.framing import Event
from loopspan.providers.openai import OpenAI
from tests import corpus
from tests.corpus import Exchange, recorded
from tests.providers import chat
from tests.providers.chat import call_delta, delta, sse


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.streamed and not e.expected.error)
def test_a_stream_may_be_cut_anywhere(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    whole = corpus.read(adapter, exchange)
    assert corpus.read_stream(adapter, corpus.lines(exchange.data)) == whole
    assert corpus.read_stream(adapter, corpus.single_bytes(exchange.data)) == whole


@chat.each_adapter
@given(st.lists(st.integers(0), max_size=5))
def test_a_stream_may_be_cut_at_random(adapter: ChatCompletions, places: list[int]) -> None:
    data = sse(chat.chunks_of(chat.RICH))
    whole = corpus.read_stream(adapter, [data])
    assert corpus.read_stream(adapter, corpus.cut(data, places)) == whole


@recorded(
    *chat.FOLDERS, where=lambda e: chat.is_chat(e) and not e.streamed and not e.expected.error
)
def test_as01_a_streamed_answer_reads_like_a_plain_one(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    streamed = corpus.read_stream(adapter, [sse(chat.chunks_of(exchange.response))])
    assert streamed == adapter.reply(exchange.response)


@chat.each_adapter
def test_as01_a_made_up_answer_reads_alike_both_ways(adapter: ChatCompletions) -> None:
    assert corpus.read_stream(adapter, [sse(chat.chunks_of(chat.RICH))]) == adapter.reply(chat.RICH)


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.streamed and not e.expected.error)
def test_deltas_add_up_to_the_answer(exchange: Exchange) -> None:
    reply, deltas = corpus.watch(chat.adapter_of(exchange), [exchange.data])
    seen = {
        kind: "".join(d.content for d in deltas if d.type == kind) for kind in ("text", "reasoning")
    }
    assert seen["text"] == reply.message.text
    assert seen["reasoning"] == reply.message.reasoning


@chat.each_adapter
def test_as02_first_and_last_chunk_without_choices(adapter: ChatCompletions) -> None:
    data = sse(
        [
            {"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            delta(role="assistant", content="Hel"),
            delta(content="lo"),
            delta("stop"),
            {"id": "c1", "model": "m1", "choices": [], "usage": {"prompt_tokens": 3}},
        ]
    )
    reply = corpus.read_stream(adapter, [data])
    assert reply.message.text == "Hello"
    assert (reply.response_id, reply.response_model) == ("c1", "m1")
    assert (reply.finish_reason, reply.usage.input_tokens) == ("stop", 3)


@chat.each_adapter
def test_tk02_usage_of_an_unknown_model_is_taken_as_it_is(adapter: ChatCompletions) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    data = sse([{**delta("stop", content="Hi"), "model": "custom_model", "usage": usage}])
    reply = corpus.read_stream(adapter, [data])
    assert reply.usage == Usage(11, 7)
    assert reply.response_model == "custom_model"


@chat.each_adapter
def test_a_stream_without_an_end_is_an_error(adapter: ChatCompletions) -> None:
    with pytest.raises(BadResponse, match="ended before"):
        corpus.read_stream(adapter, [sse([delta(content="Hel")], done=False)])


@chat.each_adapter
def test_a_stream_may_end_with_its_finish_reason(adapter: ChatCompletions) -> None:
    reply = corpus.read_stream(adapter, [sse([delta("stop", content="Hi")], done=False)])
    assert reply.message.text == "Hi"


def test_null_and_empty_fields_of_later_chunks_change_nothing() -> None:
    usage = {"prompt_tokens": 3}
    chunks = [
        {**delta("stop", content="Hi"), "usage": usage},
        {"id": "", "model": None, "choices": [], "usage": None},
    ]
    reply = corpus.read_stream(OpenAI(), [sse(chunks)])
    assert (reply.response_id, reply.response_model, reply.usage) == ("c1", "m1", Usage(3))


def test_choices_are_in_the_order_of_their_indexes() -> None:
    chunks = [delta("stop", index=1, content="b"), delta("stop", content="a")]
    reply = corpus.read_stream(OpenAI(), [sse(chunks)])
    assert [c.message.text for c in reply.choices] == ["a", "b"]


def test_a_choice_without_an_index_is_told_by_its_place() -> None:
    chunk = delta("stop", content="a")
    chunk["choices"].append({"delta": {"content": "b"}, "finish_reason": "stop"})
    reply = corpus.read_stream(OpenAI(), [sse([chunk])])
    assert [c.message.text for c in reply.choices] == ["a", "b"]


def test_watchers_see_the_first_choice_alone() -> None:
    chunks = [delta("stop", content="a"), delta("stop", index=1, content="b")]
    reply, deltas = corpus.watch(OpenAI(), [sse(chunks)])
    assert [d.content for d in deltas] == ["a"]
    assert [c.message.text for c in reply.choices] == ["a", "b"]


# Calls


def calls_of(*deltas: dict[str, Any]) -> list[ToolCall]:
    """The calls that these deltas of calls come to."""
    chunks = [*(delta(tool_calls=[d]) for d in deltas), delta("tool_calls")]
    return list(corpus.read_stream(OpenAI(), [sse(chunks)]).message.tool_calls)


def test_tc01_deltas_that_alternate_between_two_calls() -> None:
    pieces = [("{", "{"), ('"a"', '"b"'), (": 1", ": 2"), ("}", "}")]
    deltas = [
        call_delta(0, id="one", name="f", arguments=""),
        call_delta(1, id="two", name="g", arguments=""),
    ]
    for first, second in pieces:
        deltas += [call_delta(0, arguments=first), call_delta(1, arguments=second)]
    one, two = calls_of(*deltas)
    assert (one.id, one.name, one.arguments) == ("one", "f", {"a": 1})
    assert (two.id, two.name, two.arguments) == ("two", "g", {"b": 2})


def test_calls_of_two_choices_with_one_id_are_two_calls() -> None:
    call = call_delta(0, id="same", name="f", arguments="{}")
    chunks = [
        delta("tool_calls", tool_calls=[call]),
        delta("tool_calls", index=1, tool_calls=[{**call, "function": {"name": "g"}}]),
    ]
    reply = corpus.read_stream(OpenAI(), [sse(chunks)])
    assert [choice.message.tool_calls[0].name for choice in reply.choices] == ["f", "g"]


def test_index_zero_for_each_call_is_two_calls_where_id_and_name_are_new() -> None:
    one, two = calls_of(
        call_delta(0, id="one", name="f", arguments='{"a":'),
        call_delta(0, arguments="1}"),
        call_delta(0, id="two", name="f", arguments='{"a":'),
        call_delta(0, arguments="2}"),
    )
    assert (one.id, one.arguments) == ("one", {"a": 1})
    assert (two.id, two.arguments) == ("two", {"a": 2})


def test_an_id_that_is_repeated_is_the_same_call() -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f", arguments='{"a":'),
        call_delta(0, id="one", name="f", arguments="1}"),
    )
    assert (call.name, call.arguments) == ("f", {"a": 1})


def test_a_new_id_without_a_name_goes_on_with_its_index() -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f", arguments='{"a":'),
        call_delta(0, id="chunk-2", arguments="1}"),
    )
    assert (call.id, call.arguments) == ("one", {"a": 1})


def test_without_an_index_the_id_tells_the_call() -> None:
    one, two = calls_of(
        call_delta(None, id="one", name="f", arguments=""),
        call_delta(None, id="two", name="g", arguments="{}"),
        call_delta(None, id="one", arguments='{"a":1}'),
    )
    assert (one.arguments, two.arguments) == ({"a": 1}, {})


def test_without_index_and_id_the_last_call_goes_on() -> None:
    one, two = calls_of(
        call_delta(None, id="one", name="f", arguments="{}"),
        call_delta(None, id="two", name="g", arguments=""),
        call_delta(None, name="", arguments='{"b":2}'),
    )
    assert (one.arguments, two.arguments) == ({}, {"b": 2})


def test_without_index_and_id_another_name_is_another_call() -> None:
    one, two = calls_of(
        call_delta(None, name="f", arguments="{}"), call_delta(None, name="g", arguments="{}")
    )
    assert (one.name, two.name) == ("f", "g")


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_name_or_id_overwrites_nothing(nothing: str | None) -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f", arguments=""),
        call_delta(0, id=nothing, name=nothing, arguments='{"a":1}'),
    )
    assert (call.id, call.name, call.arguments) == ("one", "f", {"a": 1})


@pytest.mark.parametrize("arguments", [[""], ["null"], [None], [], ["", "{}"]])
def test_tc02_a_call_without_arguments_streams_an_empty_object(arguments: list[Any]) -> None:
    (call,) = calls_of(
        call_delta(0, id="one", name="f"), *(call_delta(0, arguments=a) for a in arguments)
    )
    assert call.arguments == {}


def test_null_for_calls_says_nothing() -> None:
    chunks = [delta(content="Hi", tool_calls=None), delta("stop", tool_calls=None)]
    assert corpus.read_stream(OpenAI(), [sse(chunks)]).message.parts == (Text("Hi"),)


def test_a_legacy_function_call_streams() -> None:
    chunks = [
        delta(function_call={"name": "f", "arguments": ""}),
        delta(function_call={"arguments": '{"a":1}'}),
        delta("function_call"),
    ]
    reply = corpus.read_stream(OpenAI(), [sse(chunks)])
    (call,) = reply.message.tool_calls
    assert (call.name, call.arguments, reply.finish_reason) == ("f", {"a": 1}, "tool_call")


def test_a_custom_tool_call_streams() -> None:
    (call,) = calls_of(
        {"index": 0, "id": "one", "type": "custom", "custom": {"name": "sql", "input": ""}},
        {"index": 0, "custom": {"input": "select"}},
        {"index": 0, "custom": {"input": " 1"}},
    )
    assert (call.name, call.arguments) == ("sql", "select 1")


# What is around text


def test_deltas_are_seen_as_they_come() -> None:
    adapter, state = OpenAI(), StreamState()
    seen = [
        [(d.type, d.content) for d in adapter.event(state, Event(event))]
        for event in (
            '{"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}',
            '{"choices":[{"index":0,"delta":{"content":"Hi"}}]}',
            '{"choices":[{"index":0,"delta":{"refusal":"No."}}]}',
            '{"choices":[{"index":0,"delta":{"audio":{"transcript":"Oh"}}}]}',
            '{"choices":[{"index":0,"delta":{"audio":{"data":"AAAA"}}}]}',
        )
    ]
    expected = [("reasoning", "Hm."), ("text", "Hi"), ("text", "No."), ("text", "Oh")]
    assert seen == [*([one] for one in expected), []]


@chat.each_adapter
def test_inline_thinking_streams_apart(adapter: ChatCompletions) -> None:
    chunks = [delta(content=piece) for piece in ("<thi", "nk>\nHm.", "\n</th", "ink>\n\nHi")]
    reply, deltas = corpus.watch(adapter, [sse([*chunks, delta("stop")])])
    assert (reply.message.reasoning, reply.message.text) == ("Hm.", "Hi")
    assert [(d.type, d.content) for d in deltas] == [("reasoning", "Hm."), ("text", "Hi")]


def test_what_is_held_back_is_seen_at_the_end() -> None:
    _, deltas = corpus.watch(OpenAI(), [sse([delta(content="<thi"), delta("stop")])])
    assert [d.content for d in deltas] == ["<thi"]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_spoken_answers_are_joined_whatever_their_padding(size: int) -> None:
    sound = bytes(range(20))
    pieces = [base64.b64encode(sound[i : i + size]).decode() for i in range(0, 20, size)]
    chunks = [delta(audio={"id": "a1", "transcript": "Hi"})]
    chunks += [delta(audio={"data": piece}) for piece in pieces]
    reply = corpus.read_stream(OpenAI(), [sse([*chunks, delta("stop")])])
    (_, blob) = reply.message.parts
    assert isinstance(blob, Blob)
    assert base64.b64decode(blob.content) == sound


def test_an_error_within_a_stream_is_raised() -> None:
    chunks = [delta(content="Hel"), {"error": {"message": "Broken", "code": "server_error"}}]
    with pytest.raises(BadResponse) as caught:
        corpus.read_stream(OpenAI(), [sse(chunks)])
    assert (caught.value.message, caught.value.code) == ("Broken", "server_error")


def test_a_partial_answer_holds_what_had_arrived() -> None:
    adapter, state = OpenAI(), StreamState()
    assert adapter.partial(state) is None
    for piece in ("Hel", "lo"):
        adapter.event(
            state, Event(f'{{"choices":[{{"index":0,"delta":{{"content":"{piece}"}}}}]}}')
        )
    reply = adapter.partial(state)
    assert reply is not None
    assert (reply.message.text, reply.finish_reason, reply.usage) == ("Hello", "error", Usage())

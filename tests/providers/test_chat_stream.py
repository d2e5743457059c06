"""Streams of the chat-completions family."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.errors import BadResponse
from loopspan.messages import Blob, Usage
from loopspan.providers.adapter import StreamState
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.framing import Event
from loopspan.providers.openai import OpenAI
from tests import corpus
from tests.corpus import Exchange, recorded
from tests.providers import chat
from tests.providers.chat import delta, sse


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

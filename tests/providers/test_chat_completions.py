"""The chat-completions family against its recordings, and laws that hold for all of them."""

from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.errors import BadResponse, LoopspanError
from loopspan.jsontext import dump
from loopspan.messages import Reply, Request, Usage, user
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.openai import OpenAI
from tests import corpus
from tests.corpus import Exchange, recorded
from tests.providers import chat
from tests.providers.chat import call_delta, delta, plain, sse
from tests.providers.strategies import mutated

# Requests

DIFFERENCES = {
    "stream": "`stream: false` is the default and left out",
    "stream_options": "usage is asked for in every stream",
    "content": "an empty `content` (null or no part) beside calls is left out",
    "type": "a Mistral client left out the type of a tool, which is `function`",
}
"""In what a request that is read and written again may differ, and why."""


def normal(body: dict[str, Any]) -> dict[str, Any]:
    """The body as we write it; each line is an entry of `DIFFERENCES`."""
    result = {k: v for k, v in body.items() if (k, v) != ("stream", False)}
    if body.get("stream"):
        result.setdefault("stream_options", {"include_usage": True})
    result["messages"] = [
        {k: v for k, v in message.items() if not ("tool_calls" in message and _empty(k, v))}
        for message in body["messages"]
    ]
    if "tools" in body:
        result["tools"] = [{"type": "function", **tool} for tool in body["tools"]]
    return result


def _empty(key: str, value: Any) -> bool:
    return key == "content" and value in (None, [])


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.request is not None)
def test_a_recorded_request_is_read_and_written_again(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    expected = normal(exchange.request)
    if not adapter.takes_stream_options:
        expected.pop("stream_options", None)
    assert adapter.body(adapter.request(exchange.request, exchange.url)) == expected


@chat.each_adapter
@given(st.data())
def test_a_request_is_written_and_read_again(adapter: ChatCompletions, data: st.DataObject) -> None:
    request = data.draw(chat.requests(adapter))
    assert adapter.request(adapter.body(request)) == request


@chat.each_adapter
@given(st.data())
def test_a_request_is_not_changed_by_writing_it(
    adapter: ChatCompletions, data: st.DataObject
) -> None:
    request = data.draw(chat.requests(adapter))
    first = dump(adapter.body(request))
    assert dump(adapter.body(request)) == first


# Answers


def facts(reply: Reply) -> tuple[Any, ...]:
    """What the index of the recordings tells of an answer."""
    calls = reply.message.tool_calls
    return (reply.response_model, *astuple(reply.usage), len(calls), [c.name for c in calls])


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and not e.expected.error)
def test_a_recorded_answer_is_read(exchange: Exchange) -> None:
    reply = corpus.read(chat.adapter_of(exchange), exchange)
    expected = exchange.expected
    assert facts(reply) == (
        expected.model,
        expected.input_tokens,
        expected.output_tokens,
        expected.cached_tokens,
        expected.cache_write_tokens,
        expected.reasoning_tokens,
        expected.tool_calls,
        expected.tool_names,
    )
    if "//openrouter.ai/" not in exchange.url:  # which has a word of its own: see its test
        assert reply.finish_reason_raw == expected.finish


FINISH_REASONS = {"tool_calls": "tool_call", "stop": "stop", "length": "length"}


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and not e.expected.error)
def test_a_recorded_finish_reason_is_normalised(exchange: Exchange) -> None:
    reply = corpus.read(chat.adapter_of(exchange), exchange)
    word = exchange.expected.finish
    if "tool_truncation_contract" in exchange.id or "tool-truncation-contract" in exchange.id:
        assert reply.finish_reason == "length"  # the upstream word, which OpenRouter translates
    elif word is None:
        assert reply.finish_reason == "tool_call"  # one gateway tells none, beside a call
    else:
        assert reply.finish_reason == FINISH_REASONS.get(word, word)


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.expected.error)
def test_a_recorded_error_is_told(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    if exchange.status >= 400:
        error = adapter.error(exchange.status, exchange.response, exchange.headers)
        assert error.status == exchange.status
        assert error.request_id == exchange.headers.get("x-request-id")
    else:
        with pytest.raises(LoopspanError) as caught:
            corpus.read(adapter, exchange)
        assert caught.value.error_type == "400"


# Streams


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.streamed and not e.expected.error)
def test_a_stream_may_be_cut_anywhere(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    whole = corpus.read(adapter, exchange)
    assert corpus.read_stream(adapter, corpus.lines(exchange.data)) == whole
    assert corpus.read_stream(adapter, corpus.single_bytes(exchange.data)) == whole


@chat.each_adapter
@given(st.lists(st.integers(0), max_size=5))
def test_a_stream_may_be_cut_at_random(adapter: ChatCompletions, places: list[int]) -> None:
    data = sse(chat.chunks_of(RICH))
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
    assert corpus.read_stream(adapter, [sse(chat.chunks_of(RICH))]) == adapter.reply(RICH)


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


@chat.each_adapter
def test_an_answer_without_choices_is_an_error(adapter: ChatCompletions) -> None:
    with pytest.raises(BadResponse):
        adapter.reply({"id": "c1", "choices": []})


def test_watchers_see_the_first_choice_alone() -> None:
    chunks = [delta("stop", content="a"), delta("stop", index=1, content="b")]
    reply, deltas = corpus.watch(OpenAI(), [sse(chunks)])
    assert [d.content for d in deltas] == ["a"]
    assert [c.message.text for c in reply.choices] == ["a", "b"]


# Usage and finish reasons


@chat.each_adapter
def test_tk12_not_reported_is_not_zero(adapter: ChatCompletions) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    zero = {**usage, "completion_tokens_details": {"reasoning_tokens": 0}}
    unsaid = adapter.reply({**plain(content="a"), "usage": usage}).usage
    said = adapter.reply({**plain(content="a"), "usage": zero}).usage
    assert (unsaid.reasoning_output_tokens, said.reasoning_output_tokens) == (None, 0)


@pytest.mark.parametrize("usage", [None, "many", {"prompt_tokens": "5"}, {"prompt_tokens": True}])
@chat.each_adapter
def test_usage_that_cannot_be_read_is_unknown(adapter: ChatCompletions, usage: Any) -> None:
    assert adapter.reply({**plain(content="a"), "usage": usage}).usage == Usage()


def test_deepseek_tells_cached_tokens_by_another_name() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}
    assert OpenAI().reply({**plain(content="a"), "usage": usage}).usage.cache_read_input_tokens == 4


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_call"),
        ("function_call", "tool_call"),
        ("content_filter", "content_filter"),
        ("eos", "eos"),
        (None, "error"),
        ("", "error"),
    ],
)
def test_finish_reasons(word: str | None, reason: str) -> None:
    reply = OpenAI().reply(plain(finish=word, content="a"))
    assert (reply.finish_reason, reply.finish_reason_raw) == (reason, word or None)


@pytest.mark.parametrize("word", ["stop", None, "tool_calls"])
def test_an_answer_with_calls_ended_for_them(word: str | None) -> None:
    calls = [call_delta(0, id="a", name="f", arguments="{}")]
    assert OpenAI().reply(plain(finish=word, tool_calls=calls)).finish_reason == "tool_call"


@pytest.mark.parametrize("arguments", ['{"city": "Osl', "{'city': 'Oslo'}"])
@chat.each_adapter
def test_ll01_cut_arguments_stay_text_and_the_cut_is_told(
    adapter: ChatCompletions, arguments: str
) -> None:
    calls = [call_delta(0, id="abcdefghi", name="weather", arguments=arguments)]
    reply = adapter.reply(plain(finish="length", tool_calls=calls))
    (call,) = reply.message.tool_calls
    assert call.arguments == arguments
    assert reply.finish_reason == "length"
    (_, sent) = adapter.body(chat.ask(user("?"), reply.message))["messages"]
    assert sent["tool_calls"][0]["function"]["arguments"] == arguments


# Damaged traffic

RICH: dict[str, Any] = {
    **plain(
        content="Hello there",
        reasoning="Hm, so",
        tool_calls=[
            call_delta(None, id="abcdefgh1", type="function", name="f", arguments='{"a": 1}'),
            call_delta(None, id="abcdefgh2", type="function", name="g", arguments=""),
        ],
        annotations=[{"type": "url_citation", "url_citation": {"url": "https://example.org"}}],
        finish="tool_calls",
    ),
    "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
        "cost": 0.5,
    },
}
MORE: dict[str, Any] = plain(
    content=[
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
        {"type": "text", "text": "Hi", "annotations": []},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ],
    reasoning_details=[{"type": "reasoning.text", "text": "Hm", "index": 0, "signature": "s"}],
    images=[{"type": "image_url", "image_url": {"url": "https://example.org/1.png"}}],
    refusal="No.",
    audio={"id": "a1", "data": "AAAA", "transcript": "Hi", "expires_at": 1},
    function_call={"name": "f", "arguments": "{}"},
)


def survives(adapter: ChatCompletions, reply: Reply) -> None:
    """Check that an answer can be dumped, sent again, and read back."""
    dump(reply.message.to_json())
    body = adapter.body(Request("m", (user("?"), reply.message)))
    dump(body)
    adapter.request(body)


@chat.each_adapter
@given(st.sampled_from([RICH, MORE]).flatmap(mutated))
def test_a_damaged_answer_is_a_reply_or_an_error_of_ours(
    adapter: ChatCompletions, body: Any
) -> None:
    try:
        reply = adapter.reply(body)
    except LoopspanError:
        return
    survives(adapter, reply)


@chat.each_adapter
@given(st.sampled_from([RICH, MORE]).map(chat.chunks_of).map(list).flatmap(mutated))
def test_a_damaged_stream_is_a_reply_or_an_error_of_ours(
    adapter: ChatCompletions, chunks: Any
) -> None:
    try:
        reply = corpus.read_stream(adapter, [sse(chunks if isinstance(chunks, list) else [chunks])])
    except LoopspanError:
        return
    survives(adapter, reply)


REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Be.", "cache_control": {}}]},
        {"role": "user", "content": MORE["choices"][0]["message"]["content"]},
        RICH["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "abcdefgh1", "content": "12"},
        {"role": "user", "name": "Al", "content": [{"type": "file", "file": {"file_id": "f"}}]},
        {
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}],
        },
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "temperature": 0.5,
    "stop": ["a"],
    "max_tokens": 5,
    "reasoning": {"effort": "low"},
    "stream": True,
    "stream_options": {"include_usage": True},
}


@chat.each_adapter
@given(mutated(REQUEST))
def test_a_damaged_request_is_a_request_or_an_error_of_ours(
    adapter: ChatCompletions, body: Any
) -> None:
    try:
        request = adapter.request(body)
    except LoopspanError:
        return
    try:
        dump(adapter.body(request))
    except LoopspanError:
        return

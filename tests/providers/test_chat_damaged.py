"""Damaged traffic ends as a value or as an error of our tree."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loopspan.errors import LoopspanError
from loopspan.jsontext import dump
from loopspan.messages import Reply, Request, user
from loopspan.providers.chat_completions import ChatCompletions
from tests import corpus
from tests.providers import chat
from tests.providers.chat import sse
from tests.providers.strategies import mutated


def survives(adapter: ChatCompletions, reply: Reply) -> None:
    """Check that an answer can be dumped, sent again, and read back."""
    dump(reply.message.to_json())
    body = adapter.body(Request("m", (user("?"), reply.message)))
    dump(body)
    adapter.request(body)


@chat.each_adapter
@given(st.sampled_from([chat.RICH, chat.MORE]).flatmap(mutated))
def test_a_damaged_answer_is_a_reply_or_an_error_of_ours(
    adapter: ChatCompletions, body: Any
) -> None:
    try:
        reply = adapter.reply(body)
    except LoopspanError:
        return
    survives(adapter, reply)


@chat.each_adapter
@given(st.sampled_from([chat.RICH, chat.MORE]).map(chat.chunks_of).map(list).flatmap(mutated))
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
        {"role": "user", "content": chat.MORE["choices"][0]["message"]["content"]},
        chat.RICH["choices"][0]["message"],
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

"""Laws of the Ollama adapter over generated requests, answers and streams."""

import contextlib
import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from loopspan.errors import LoopspanError
from loopspan.jsontext import dump
from loopspan.messages import Blob, Message, Part, Request, ToolCallResponse, user
from loopspan.providers.ollama import Ollama
from tests.corpus import cut, read_stream
from tests.providers.strategies import (
    base64s,
    dialogues,
    is_sound,
    json_values,
    messages,
    mutated,
    names,
    objects,
    parameters,
    reasoning_parts,
    requests,
    text_parts,
    tool_calls,
    tool_results,
)

ADAPTER = Ollama()

_thinking = reasoning_parts(st.just({"ollama": {"field": "thinking"}})).filter(lambda p: p.content)
_images = st.builds(Blob, st.just("image"), base64s)


@st.composite
def _messages(draw: st.DrawFn, role: str, *kinds: st.SearchStrategy[Part]) -> Message:
    """Messages with at most one text and one thinking, in the order that the wire has."""
    parts: list[Part] = []
    for kind in kinds:
        parts += draw(st.lists(kind, max_size=1))
    if role == "assistant":
        parts += draw(st.lists(tool_calls(), max_size=2))
    else:
        parts += draw(st.lists(_images, max_size=2))
    return Message(role, tuple(parts))


_results = messages("tool", tool_results(name=st.none() | names), max_size=1)
_extras = st.fixed_dictionaries(
    {},
    optional={
        "keep_alive": json_values,
        "format": objects,
        "options": st.fixed_dictionaries({"num_ctx": st.integers(1)}),
    },
)
_settings = st.builds(
    lambda settings, extra: replace(settings, extra=extra),
    parameters(
        *("temperature", "top_p", "top_k", "max_tokens", "stop_sequences", "seed"),
        *("frequency_penalty", "presence_penalty", "reasoning_level"),
    ),
    _extras,
)


@st.composite
def _requests(draw: st.DrawFn) -> Request:
    """Requests whose results name no call that stands before them: the wire would add its name."""
    made = draw(
        requests(
            dialogues(
                _messages("system", text_parts()),
                _messages("user", text_parts()),
                _messages("assistant", _thinking, text_parts()),
                _results,
            ),
            _settings,
            choices=(),
        )
    )
    calls = {c.id for m in made.messages for c in m.tool_calls}
    unnamed = {
        p.id
        for m in made.messages
        for p in m.parts
        if isinstance(p, ToolCallResponse) and p.name is None
    }
    if calls & unnamed:
        return Request(made.model, (user("x"),))
    return made


@given(_requests())
def test_request_is_read_back_as_it_was(request: Request) -> None:
    sent = json.loads(dump(ADAPTER.body(request)))
    assert ADAPTER.request(sent) == request


BODY: dict[str, Any] = {
    "model": "m",
    "created_at": "2026-01-02T03:04:05Z",
    "message": {
        "role": "assistant",
        "content": "<think>Hm</think>Hi",
        "thinking": "Hm",
        "images": ["aGk="],
        "hologram": {"x": 1},
        "tool_calls": [{"id": "i", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}],
    },
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 3,
    "eval_count": 2,
}

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Hi", "images": ["aGk="]},
        BODY["message"],
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "i"},
        {"role": "tool", "content": "1", "tool_name": "f"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}, {"type": "x"}],
    "options": {"temperature": 1, "stop": ["a"], "num_ctx": 9},
    "think": "low",
    "stream": False,
}

LINES: list[dict[str, Any]] = [
    {"message": {"role": "assistant", "content": "", "thinking": "H"}, "done": False},
    {"message": {"content": "", "thinking": "m"}, "done": False},
    {"message": {"content": "Hi"}, "done": False},
    BODY,
]


def ndjson(lines: list[Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@settings(max_examples=300)
@given(mutated(BODY) | json_values)
def test_spoiled_answer_is_a_reply_or_an_error_of_ours(body: Any) -> None:
    with contextlib.suppress(LoopspanError):
        assert is_sound(ADAPTER.reply(body))


@settings(max_examples=300)
@given(mutated(LINES).filter(lambda lines: isinstance(lines, list)))
def test_spoiled_stream_is_a_reply_or_an_error_of_ours(lines: list[Any]) -> None:
    with contextlib.suppress(LoopspanError):
        assert is_sound(read_stream(ADAPTER, [ndjson(lines)]))


@given(st.integers(0, 2**16))
def test_truncated_stream_is_a_reply_or_an_error_of_ours(position: int) -> None:
    with contextlib.suppress(LoopspanError):
        assert is_sound(read_stream(ADAPTER, [cut(ndjson(LINES), [position])[0]]))


@settings(max_examples=300)
@given(mutated(ASKED))
def test_spoiled_request_is_a_request_or_an_error_of_ours(body: Any) -> None:
    with contextlib.suppress(LoopspanError):
        assert isinstance(ADAPTER.body(ADAPTER.request(body)), dict)

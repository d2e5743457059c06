"""Laws of the Anthropic adapter over generated requests, answers and streams."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from loopspan.errors import LoopspanError
from loopspan.jsontext import dump
from loopspan.messages import (
    Extra,
    Generic,
    Message,
    Parameters,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
)
from loopspan.providers.anthropic import Anthropic
from tests.corpus import cut, read_stream
from tests.providers.strategies import (
    Strategy,
    blobs,
    files,
    ids,
    is_sound,
    json_values,
    messages,
    mutated,
    names,
    parameters,
    requests,
    texts,
    tool_calls,
    tool_definitions,
    uris,
    words,
)
from tests.providers.test_anthropic_stream import (
    STOP,
    closed,
    delta,
    ending,
    opened,
    said,
    sse,
    start,
)

ADAPTER = Anthropic()


def kept(*fields: Mapping[str, Any]) -> Strategy[Extra]:
    """Nothing, or one of these as the provider's own details."""
    none: list[Extra] = [{}]
    return st.sampled_from(none + [{"anthropic": f} for f in fields])


caching = kept({"cache_control": {"type": "ephemeral"}})
plain_text = st.builds(Text, words, extra=caching)
thinking = st.builds(
    Reasoning, texts, extra=words.map(lambda s: {"anthropic": {"type": "thinking", "signature": s}})
)
redacted = words.map(
    lambda d: Reasoning("", extra={"anthropic": {"type": "redacted_thinking", "data": d}})
)
calls = tool_calls() | st.builds(
    ToolCall, names, st.just('{"cut": '), ids, extra=kept({"caller": {"type": "direct"}})
)
results = st.builds(
    ToolCallResponse, st.none() | texts, ids, is_error=st.none() | st.booleans(), extra=caching
)
server_call = ids.map(
    lambda i: Generic(
        "server_tool_use",
        {"type": "server_tool_use", "id": i},
        extra={"anthropic": {"type": "server_tool_use"}},
    )
)
media: Strategy[Part] = st.one_of(
    *(kind(m) for kind in (uris, files) for m in ("image", "document")),
    blobs("image", "image/png"),
    blobs("document", "application/pdf"),
)
leading = st.lists(plain_text.map(lambda part: Message("system", (part,))), max_size=2)
users = messages("user", plain_text | media | results)
answers = messages("assistant", plain_text | thinking | redacted | calls | server_call)
instructions = messages("system", plain_text)


@st.composite
def dialogues(draw: st.DrawFn) -> tuple[Message, ...]:
    """Dialogues that the API takes: an instruction in their middle ends the turn of the user."""
    dialogue = list(draw(leading))
    for _ in range(draw(st.integers(0, 3))):
        dialogue += draw(st.lists(users, min_size=1, max_size=2))
        dialogue += draw(st.lists(instructions, max_size=1))
        dialogue += draw(st.lists(answers, min_size=1, max_size=2))
    return tuple(dialogue)


def definitions() -> Strategy[tuple[ToolDefinition, ...]]:
    server = st.builds(
        ToolDefinition,
        names,
        type=st.just("web_search_20250305"),
        extra=kept({"max_uses": 2}, {"name": None, "x": 1}),
    )
    # A definition without a name is read as one that is called as its type.
    server = server.map(lambda t: t if "name" not in t.extra.get("anthropic", {}) else _unnamed(t))
    return st.lists(tool_definitions() | server, max_size=3).map(tuple)


def _unnamed(tool: ToolDefinition) -> ToolDefinition:
    return ToolDefinition(tool.type, type=tool.type, extra=tool.extra)


own_fields: Strategy[Mapping[str, Any]] = st.sampled_from(
    [
        {},
        {"thinking": {"type": "adaptive"}},
        {"output_config": {"format": {"type": "json_schema"}}},
        {"metadata": {"user_id": None}, "service_tier": "auto"},
    ]
)


parameter_sets: Strategy[Parameters] = st.builds(
    lambda known, limit, extra: replace(known, max_tokens=limit, extra=extra),
    parameters("temperature", "top_p", "top_k", "stop_sequences", "reasoning_level"),
    st.integers(0, 10_000),
    own_fields,
)


@st.composite
def whole_requests(draw: st.DrawFn) -> Request:
    """Requests with tools of the client's, and among them some of the provider's."""
    request = draw(requests(dialogues(), parameter_sets))
    if not request.tools:
        return request
    return replace(request, tools=request.tools + draw(definitions()))


@given(whole_requests())
def test_request_is_read_back_as_it_was(request: Request) -> None:
    sent = json.loads(dump(ADAPTER.body(request)))
    assert ADAPTER.request(sent) == request


BODY: dict[str, Any] = {
    "id": "msg_1",
    "model": "claude-1",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "S"},
        {"type": "redacted_thinking", "data": "D"},
        {"type": "text", "text": "Hi", "citations": [{"type": "page_location"}]},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}},
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "1"}]},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_details": {"type": "refusal", "category": "bio"},
    "usage": {
        "input_tokens": 1,
        "output_tokens": 2,
        "cost": 0.1,
        "output_tokens_details": {"thinking_tokens": 1},
    },
}

ASKED: dict[str, Any] = {
    "model": "claude",
    "max_tokens": 10,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": BODY["content"]}],
    "tools": [{"name": "add", "input_schema": {"type": "object"}}, {"type": "x", "name": "y"}],
    "tool_choice": {"type": "tool", "name": "add"},
    "stop_sequences": ["#"],
    "output_config": {"effort": "low"},
    "temperature": 1,
}

EVENTS: list[dict[str, Any]] = [
    start(input_tokens=1, output_tokens=1),
    *said("Hel", "lo"),
    opened(1, type="tool_use", id="c1", name="add", input={}),
    delta(1, "input_json_delta", partial_json='{"a": 1}'),
    closed(1),
    opened(2, type="thinking", thinking=""),
    delta(2, "thinking_delta", thinking="Hm"),
    delta(2, "signature_delta", signature="S"),
    delta(2, "citations_delta", citation={}),
    ending("tool_use", output_tokens=3),
    STOP,
]


@settings(max_examples=300)
@given(mutated(BODY) | json_values)
def test_spoiled_answer_is_a_reply_or_an_error_of_ours(body: Any) -> None:
    try:
        reply = ADAPTER.reply(body)
    except LoopspanError:
        return
    assert is_sound(reply)


@settings(max_examples=300)
@given(mutated(EVENTS).filter(lambda events: isinstance(events, list)))
def test_spoiled_stream_is_a_reply_or_an_error_of_ours(events: list[Any]) -> None:
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    try:
        reply = read_stream(ADAPTER, [data])
    except LoopspanError:
        return
    assert is_sound(reply)


@given(st.integers(0, 2**16))
def test_truncated_stream_is_a_reply_or_an_error_of_ours(position: int) -> None:
    data = cut(sse(*EVENTS), [position])[0]
    try:
        assert is_sound(read_stream(ADAPTER, [data]))
    except LoopspanError:
        return


@settings(max_examples=300)
@given(mutated(ASKED))
def test_spoiled_request_is_a_request_or_an_error_of_ours(body: Any) -> None:
    try:
        assert isinstance(ADAPTER.body(ADAPTER.request(body)), dict)
    except LoopspanError:
        return

"""Generated messages of every kind, small and far too large."""

from typing import Any

from hypothesis import strategies as st

from loopspan.messages import (
    Blob,
    Choice,
    File,
    Generic,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    Uri,
)
from loopspan.telemetry.unrecorded import PLACEHOLDER

Strategy = st.SearchStrategy

short: Strategy[str] = st.text(st.characters(codec=None), max_size=12)
texts: Strategy[str] = short | st.builds(
    lambda text, count: text * count, short, st.integers(1, 400)
)
names: Strategy[str] = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,15}", fullmatch=True)
ids: Strategy[str | None] = st.none() | st.from_regex(r"[a-zA-Z0-9_]{1,30}", fullmatch=True) | short
values: Strategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | texts
    | st.integers(50, 300).map(lambda count: {f"key_{i}": i for i in range(count)})
    | st.integers(50, 300).map(lambda count: list(range(count))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts | st.sampled_from(["id", "name", "type", "…"]), inner, max_size=4)
    ),
    max_leaves=10,
)
extras: Strategy[Any] = st.just({}) | st.builds(lambda value: {"openai": {"x": value}}, values)
modalities: Strategy[str] = st.sampled_from(["image", "audio"])
parts: Strategy[Part] = st.one_of(
    st.builds(Text, texts, extra=extras),
    st.builds(Reasoning, texts, extra=extras),
    st.builds(ToolCall, names, values | st.just(PLACEHOLDER), ids),
    st.builds(
        ToolCallResponse,
        values | st.just(PLACEHOLDER),
        ids,
        st.none() | names,
        st.none() | st.booleans(),
    ),
    st.builds(Blob, modalities, texts, st.none() | st.just("image/png")),
    st.builds(Uri, modalities, texts),
    st.builds(File, modalities, names),
    st.builds(Generic, names, values),
)
roles: Strategy[str] = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
messages: Strategy[Message] = st.builds(
    Message, roles, st.lists(parts, max_size=4).map(tuple), st.none() | names
)
dialogues: Strategy[list[Message]] = st.lists(messages, max_size=8) | st.builds(
    lambda few, count: few * count, st.lists(messages, min_size=1, max_size=3), st.integers(2, 30)
)
choices: Strategy[list[Choice]] = st.lists(
    st.builds(Choice, messages, st.sampled_from(["stop", "length", "tool_call"])), max_size=4
)
definitions: Strategy[list[ToolDefinition]] = st.lists(
    st.builds(ToolDefinition, names, st.none() | texts, values.map(lambda value: {"x": value})),
    max_size=30,
)

"""Generated requests for the property tests of the adapters.

The blocks are for every format; a format that cannot express one leaves it out or brings its own.
"""

import base64
import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from loopspan.jsontext import dump
from loopspan.messages import (
    Blob,
    Extra,
    File,
    Message,
    Parameters,
    Part,
    Reasoning,
    Reply,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    Uri,
)

Strategy = st.SearchStrategy

texts: Strategy[str] = st.text(max_size=20)
words: Strategy[str] = st.text(min_size=1, max_size=20)
names: Strategy[str] = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,15}", fullmatch=True)
ids: Strategy[str] = st.from_regex(r"[a-zA-Z0-9_:.-]{1,16}", fullmatch=True)

_nothing: Strategy[None] = st.none()
_scalars: Strategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values: Strategy[Any] = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects: Strategy[dict[str, Any]] = st.dictionaries(texts, json_values, max_size=3)

base64s: Strategy[str] = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())


def text_parts(content: Strategy[str] = words) -> Strategy[Text]:
    """Text parts; by default none is empty."""
    return st.builds(Text, content)


def reasoning_parts(extra: Strategy[Extra]) -> Strategy[Reasoning]:
    """Thinking with the details that its provider wants to see again."""
    return st.builds(Reasoning, texts, extra=extra)


def blobs(modality: str, *mime_types: str) -> Strategy[Blob]:
    """Inline data of one modality."""
    return st.builds(Blob, st.just(modality), base64s, st.sampled_from(mime_types))


def uris(modality: str, mime_type: str | None = None) -> Strategy[Uri]:
    """Data by reference."""
    paths = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
    return st.builds(
        Uri, st.just(modality), paths.map(lambda p: f"https://example.org/{p}"), st.just(mime_type)
    )


def files(modality: str, mime_type: str | None = None) -> Strategy[File]:
    """Files that were uploaded before."""
    return st.builds(File, st.just(modality), ids, st.just(mime_type))


def tool_calls(
    id: Strategy[str | None] = ids, arguments: Strategy[Any] = objects
) -> Strategy[ToolCall]:
    """Calls with parsed arguments."""
    return st.builds(ToolCall, names, arguments, id)


def tool_results(
    id: Strategy[str | None] = ids,
    response: Strategy[Any] = texts,
    name: Strategy[str | None] = _nothing,
) -> Strategy[ToolCallResponse]:
    """Results of calls."""
    return st.builds(ToolCallResponse, response, id, name)


def messages(
    role: str, parts: Strategy[Part], *, min_size: int = 1, max_size: int = 3
) -> Strategy[Message]:
    """Messages of one role, with these parts."""
    listed = st.lists(parts, min_size=min_size, max_size=max_size)
    return st.builds(Message, st.just(role), listed.map(tuple))


def dialogues(*kinds: Strategy[Message], max_size: int = 4) -> Strategy[tuple[Message, ...]]:
    """Lists of messages, in any order."""
    return st.lists(st.one_of(*kinds), min_size=1, max_size=max_size).map(tuple)


_schemas: Strategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(
            names, st.sampled_from([{"type": "string"}, {"type": "integer", "minimum": 0}, {}])
        ),
    }
)


def tool_definitions() -> Strategy[ToolDefinition]:
    """Tools that the client runs, with and without description."""
    return st.builds(ToolDefinition, names, _nothing | texts, _schemas)


_tools: Strategy[list[ToolDefinition]] = st.lists(
    tool_definitions(), max_size=2, unique_by=lambda tool: tool.name
)


_PARAMETERS: Mapping[str, Strategy[Any]] = {
    "temperature": st.floats(0, 2),
    "top_p": st.floats(0, 1),
    "top_k": st.integers(1, 100),
    "max_tokens": st.integers(1, 10_000),
    "stop_sequences": st.lists(words, min_size=1, max_size=3).map(tuple),
    "seed": st.integers(0, 2**31),
    "frequency_penalty": st.floats(-2, 2),
    "presence_penalty": st.floats(-2, 2),
    "choice_count": st.integers(2, 4),
    "reasoning_level": st.sampled_from(["low", "medium", "high"]),
}


def parameters(
    *supported: str, extra: Strategy[Mapping[str, Any]] | None = None
) -> Strategy[Parameters]:
    """Settings, each of them set or not; `extra` are fields of the provider's own."""
    fields = {name: st.none() | _PARAMETERS[name] for name in supported}
    return st.builds(Parameters, **fields, extra=st.just({}) if extra is None else extra)


@st.composite
def requests(
    draw: st.DrawFn,
    dialogue: Strategy[tuple[Message, ...]],
    settings: Strategy[Parameters],
    *,
    choices: tuple[str, ...] = ("auto", "required", "none"),
    model: Strategy[str] = names,
) -> Request:
    """Whole requests; a tool choice only where tools are offered, and then also one by name."""
    tools = tuple(draw(_tools))
    # A tool may be called `auto`: as a choice that word means something else.
    offered = tuple(t.name for t in tools if t.name not in ("auto", "required", "none", "any"))
    choice = draw(st.none() | st.sampled_from(choices + offered)) if tools and choices else None
    return Request(
        draw(model), draw(dialogue), tools, draw(settings), choice, stream=draw(st.booleans())
    )


_ODD: tuple[Any, ...] = (
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    "null",
    [],
    {},
    [None],
    ["x"],
    {"type": 1},
)


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value changed in up to three places: replaced by odd ones, doubled, left out."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        value = _mutate(draw, value)
    return value


def _mutate(draw: st.DrawFn, value: Any) -> Any:
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = sorted(value, key=str)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    if not keys or draw(st.integers(0, 9)) == 0:
        return copy.deepcopy(draw(st.sampled_from(_ODD)))
    key = draw(st.sampled_from(keys))
    change = draw(st.sampled_from(["inside", "inside", "inside", "inside", "leave out", "double"]))
    if change == "inside":
        value[key] = _mutate(draw, value[key])
    elif change == "leave out":
        del value[key]
    elif isinstance(value, list):
        value.append(copy.deepcopy(value[key]))
    return value


def is_sound(reply: object) -> bool:
    """Whether this is a reply that can be sent again."""
    return isinstance(reply, Reply) and bool(dump(reply.message.to_json()))

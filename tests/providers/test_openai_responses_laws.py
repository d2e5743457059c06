"""Laws of the Responses adapter over generated requests, answers and streams."""

import contextlib
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
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    system,
)
from loopspan.providers.openai_responses import OpenAIResponses
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
    objects,
    parameters,
    requests,
    text_parts,
    texts,
    tool_calls,
    tool_results,
    uris,
    words,
)
from tests.providers.test_openai_responses_stream import EVENTS, sse

ADAPTER = OpenAIResponses()


def own(**details: Any) -> Extra:
    return {"openai-responses": details}


@st.composite
def reasoning(draw: st.DrawFn) -> Reasoning:
    summary = draw(st.lists(words, max_size=2))
    item = {
        "type": "reasoning",
        "id": draw(ids),
        "summary": [{"type": "summary_text", "text": text} for text in summary],
        "encrypted_content": draw(st.none() | texts),
    }
    return Reasoning("\n\n".join(summary), extra=own(item=item))


@st.composite
def unknown_items(draw: st.DrawFn) -> Generic:
    kind = draw(st.sampled_from(["web_search_call", "compaction"]))
    item = {"type": kind, "id": draw(ids), "x": draw(json_values)}
    return Generic(kind, item, extra=own(place="item"))


@st.composite
def unknown_content(draw: st.DrawFn) -> Generic:
    body = {"type": "hologram", "x": draw(json_values)}
    return Generic("hologram", body, extra=own(place="content"))


media: Strategy[Part] = st.one_of(
    *(kind(m) for kind in (uris, files) for m in ("image", "document")),
    blobs("image", "image/png", "image/jpeg"),
    blobs("document", "application/pdf", "text/csv"),
    blobs("audio", "audio/mpeg", "audio/wav"),
    unknown_content(),
)
marked = st.builds(
    lambda text, part: Text(text, extra=own(part=part)),
    words,
    st.sampled_from(
        [
            {"prompt_cache_breakpoint": {"mode": "explicit"}},
            {"annotations": [], "logprobs": []},
            {"type": "refusal"},
        ]
    ),
)
items = st.builds(
    lambda text, item: Text(text, extra=own(item=item)),
    words,
    st.fixed_dictionaries({"type": st.just("message"), "id": ids, "phase": st.none() | words}),
)
calls = tool_calls() | st.builds(
    lambda call, raw, item: replace(call, arguments=raw, extra=own(item=item, arguments=raw)),
    tool_calls(),
    st.just('{"cut": '),
    st.fixed_dictionaries({"id": ids, "status": st.just("incomplete")}),
)
custom_calls = st.builds(
    ToolCall,
    names,
    texts,
    ids.map(lambda id: f"custom-{id}"),
    extra=st.just(own(item={"type": "custom_tool_call", "id": "ctc_1"})),
)
_listed = st.lists(objects.map(lambda o: {"type": "input_text", **o}), max_size=2)
results = tool_results() | st.builds(
    ToolCallResponse, _listed, ids, extra=st.just(own(item={"status": "completed"}, listed=True))
)
turns = messages("assistant", text_parts() | marked | items | reasoning() | calls | custom_calls)


@st.composite
def dialogues(draw: st.DrawFn) -> tuple[Message, ...]:
    """Dialogues with no two turns of the assistant side by side: those would be one."""
    dialogue: list[Message] = []
    if draw(st.booleans()):
        dialogue.append(system(draw(texts)))
    others = (
        messages("user", text_parts() | media)
        | messages("developer", text_parts())
        | messages("system", text_parts(), min_size=2)
        | messages("tool", results, max_size=1)
    )
    for _ in range(draw(st.integers(0, 2))):
        dialogue += draw(st.lists(others, min_size=1, max_size=2))
        dialogue += draw(st.lists(turns | messages("assistant", unknown_items()), max_size=1))
    return tuple(dialogue)


own_fields: Strategy[Mapping[str, Any]] = st.sampled_from(
    [
        {},
        {"text": {"format": {"type": "json_object"}}, "service_tier": None},
        {"reasoning": {"summary": "auto"}, "store": False},
        {"reasoning": None, "previous_response_id": "resp_1", "instructions": None},
    ]
)


@st.composite
def whole_requests(draw: st.DrawFn) -> Request:
    """Requests with tools of the client's, and among them some of the provider's."""
    known = parameters("temperature", "top_p", "max_tokens", "reasoning_level")
    request = draw(requests(dialogues(), known))
    extra = dict(draw(own_fields))
    if request.messages and request.messages[0].role == "system":
        extra.pop("instructions", None)  # they are in the first message
    if request.parameters.reasoning_level is not None and not extra.get("reasoning"):
        extra.pop("reasoning", None)  # it is in the level
    search = ToolDefinition("web_search", type="web_search", extra=own(search_context_size="low"))
    grammar = ToolDefinition("expr_", "d", type="custom", extra=own(format={"type": "text"}))
    more = tuple(draw(st.lists(st.sampled_from([search, grammar])))) if request.tools else ()
    parameters_ = replace(request.parameters, extra=extra)
    return replace(request, tools=request.tools + more, parameters=parameters_)


@given(whole_requests())
def test_request_is_read_back_as_it_was(request: Request) -> None:
    sent = json.loads(dump(ADAPTER.body(request)))
    assert ADAPTER.request(sent) == request


BODY: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "status": "completed",
    "error": None,
    "incomplete_details": {"reason": "max_output_tokens"},
    "service_tier": "default",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "Hi", "annotations": []},
                {"type": "refusal", "refusal": "No"},
            ],
        },
        {"type": "function_call", "id": "f", "call_id": "c", "name": "add", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "d", "name": "sh", "input": "ls"},
        {"type": "web_search_call", "id": "ws_1"},
    ],
    "usage": {
        "input_tokens": 5,
        "output_tokens": 2,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 1},
        "cost": 0.5,
    },
}

ASKED: dict[str, Any] = {
    "model": "gpt",
    "instructions": "Be brief.",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Hi"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
                {"type": "input_file", "filename": "a", "file_data": "data:a/b;base64,aGk="},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            ],
        },
        *BODY["output"],
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text"}]},
    ],
    "tools": [{"type": "function", "name": "add", "parameters": {}}, {"type": "web_search"}],
    "tool_choice": {"type": "function", "name": "add"},
    "reasoning": {"effort": "low"},
    "temperature": 1,
}


@settings(max_examples=300)
@given(mutated(BODY) | json_values)
def test_spoiled_answer_is_a_reply_or_an_error_of_ours(body: Any) -> None:
    with contextlib.suppress(LoopspanError):
        assert is_sound(ADAPTER.reply(body))


@settings(max_examples=300)
@given(mutated(EVENTS).filter(lambda events: isinstance(events, list)))
def test_spoiled_stream_is_a_reply_or_an_error_of_ours(events: list[Any]) -> None:
    with contextlib.suppress(LoopspanError):
        assert is_sound(read_stream(ADAPTER, [sse(*events)]))


@given(st.integers(0, 2**16))
def test_truncated_stream_is_a_reply_or_an_error_of_ours(position: int) -> None:
    with contextlib.suppress(LoopspanError):
        assert is_sound(read_stream(ADAPTER, [cut(sse(*EVENTS), [position])[0]]))


@settings(max_examples=300)
@given(mutated(ASKED))
def test_spoiled_request_is_a_request_or_an_error_of_ours(body: Any) -> None:
    with contextlib.suppress(LoopspanError):
        assert isinstance(ADAPTER.body(ADAPTER.request(body)), dict)

"""Laws of the Gemini adapter over generated requests, answers and streams."""

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
    File,
    Generic,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
)
from loopspan.providers.gemini import Gemini
from tests.corpus import cut, read_stream
from tests.providers.strategies import (
    Strategy,
    blobs,
    is_sound,
    json_values,
    messages,
    mutated,
    names,
    objects,
    parameters,
    requests,
    texts,
    tool_definitions,
    uris,
    words,
)

ADAPTER = Gemini()
BASE = "https://generativelanguage.googleapis.com/v1beta"

signatures: Strategy[dict[str, Any]] = st.just({}) | words.map(lambda s: {"thoughtSignature": s})


def kept(fields: Mapping[str, Any]) -> Extra:
    return {"gemini": fields} if fields else {}


signed: Strategy[Extra] = signatures.map(kept)
plain_text = st.builds(Text, words, extra=signed)
signature = words.map(lambda s: Text("", extra={"gemini": {"thoughtSignature": s}}))
thinking = st.builds(
    lambda text, own: Reasoning(text, extra={"gemini": {"thought": True, **own}}), texts, signatures
)
code = st.builds(
    lambda body, own: Generic("executableCode", body, extra={"gemini": own}), objects, signatures
)
media: Strategy[Part] = st.one_of(
    blobs("image", "image/png"),
    blobs("document", "application/pdf"),
    uris("document"),
    uris("video", "video/mp4"),
    st.just(File("image", f"{BASE}/files/abc", "image/png")),
)
users = messages("user", plain_text | media)


@st.composite
def rounds(draw: st.DrawFn, before: int) -> tuple[int, list[Message]]:
    """An answer and the results of its calls, whose ids are the API's, or made by their place."""
    parts: list[Part] = []
    number = before
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            parts.append(draw(plain_text | signature | thinking | code))
            continue
        own = draw(signatures)
        id = f"call_{number}"
        if draw(st.booleans()):
            id = f"given{number}"
            own = {**own, "functionCall": {"id": id}}
        parts.append(ToolCall(draw(names), draw(objects), id, extra=kept(own)))
        number += 1
    answer = Message("assistant", tuple(parts))
    results = (
        ToolCallResponse(
            draw(texts | json_values), c.id, c.name, draw(st.sampled_from([None, True]))
        )
        for c in answer.tool_calls
    )
    return number, [answer, *(Message("tool", (result,)) for result in results)]


@st.composite
def dialogues(draw: st.DrawFn) -> tuple[Message, ...]:
    dialogue = draw(st.lists(messages("system", plain_text), max_size=1))
    number = 0
    for _ in range(draw(st.integers(0, 3))):
        dialogue += draw(st.lists(users, min_size=1, max_size=2))
        number, answered = draw(rounds(number))
        dialogue += answered
    return tuple(dialogue)


own_fields: Strategy[Mapping[str, Any]] = st.sampled_from(
    [
        {},
        {"safetySettings": [{"category": 10}], "cachedContent": "cachedContents/x"},
        {"generationConfig": {"responseModalities": ["TEXT"]}},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
    ]
)
parameter_sets = parameters(
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "stop_sequences",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "choice_count",
    "reasoning_level",
    extra=own_fields,
)
server_tools = st.builds(
    lambda kind, settings: ToolDefinition(kind, type=kind, extra={"gemini": {kind: settings}}),
    st.sampled_from(["googleSearch", "codeExecution"]),
    objects,
)
open_api = tool_definitions().map(
    lambda tool: replace(tool, extra={"gemini": {"under": "parameters", "behavior": "BLOCKING"}})
)


@st.composite
def whole_requests(draw: st.DrawFn) -> Request:
    """Requests with tools of the client's, and after them some of the provider's."""
    request = draw(requests(dialogues(), parameter_sets))
    more = draw(st.lists(open_api, max_size=1)) if request.tools else []
    return replace(
        request, tools=(*request.tools, *more, *draw(st.lists(server_tools, max_size=2)))
    )


@given(whole_requests())
def test_request_is_read_back_as_it_was(request: Request) -> None:
    sent = json.loads(dump(ADAPTER.body(request)))
    assert ADAPTER.request(sent, ADAPTER.url(BASE, request)) == request


@given(whole_requests())
def test_body_does_not_depend_on_what_was_sent_before(request: Request) -> None:
    first = dump(ADAPTER.body(request))
    ADAPTER.body(replace(request, messages=request.messages[1:]))
    assert dump(ADAPTER.body(request)) == first


BODY: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True, "thoughtSignature": "S"},
                    {"text": "Hi"},
                    {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
                    {"fileData": {"mimeType": "image/png", "fileUri": "gs://b/x"}},
                    {"executableCode": {"code": "1", "language": "PYTHON"}},
                    {"functionCall": {"name": "add", "id": "c1", "args": {"a": 1}}},
                    {"functionResponse": {"name": "add", "id": "c1", "response": {"result": 1}}},
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "promptFeedback": {"blockReason": "SAFETY"},
    "usageMetadata": {
        "promptTokenCount": 1,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 3,
        "toolUsePromptTokenCount": 4,
    },
    "modelVersion": "gemini-x",
    "responseId": "r1",
}

ASKED: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"text": "Hi"}]},
        BODY["candidates"][0]["content"],
        {"role": "user", "parts": BODY["candidates"][0]["content"]["parts"][-1:]},
    ],
    "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
    "generationConfig": {
        "temperature": 1,
        "stopSequences": ["#"],
        "thinkingConfig": {"thinkingLevel": "low"},
    },
    "tools": [
        {"functionDeclarations": [{"name": "add", "parametersJsonSchema": {"type": "object"}}]},
        {"googleSearch": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]}},
    "model": "models/gemini-x",
}

FAILURE: dict[str, Any] = {
    "error": {
        "code": 429,
        "message": "m",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"reason": "RATE_LIMIT_EXCEEDED"}, {"retryDelay": "48s"}],
    }
}


def event(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}]}


EVENTS: list[dict[str, Any]] = [
    event({"text": "Hm", "thought": True}),
    event({"text": "Hel"}) | {"usageMetadata": {"promptTokenCount": 1}},
    event({"text": "lo"}, {"text": "!", "thoughtSignature": "S"}),
    event({"functionCall": {"name": "add", "willContinue": True}}),
    event({"functionCall": {"partialArgs": [{"jsonPath": "$.a.b[0]", "stringValue": "x"}]}}),
    event({"functionCall": {"partialArgs": [{"jsonPath": "$.a.b[0]", "stringValue": "y"}]}}),
    event({"functionCall": {}}),
    event(finishReason="STOP", index=0) | {"usageMetadata": {"candidatesTokenCount": 2}},
]


@settings(max_examples=400)
@given(mutated(BODY) | json_values)
def test_spoiled_answer_is_a_reply_or_an_error_of_ours(body: Any) -> None:
    try:
        reply = ADAPTER.reply(body)
    except LoopspanError:
        return
    assert is_sound(reply)


@settings(max_examples=200)
@given(mutated(FAILURE))
def test_spoiled_error_is_an_error_of_ours(body: Any) -> None:
    assert isinstance(ADAPTER.error(429, body), LoopspanError)


@settings(max_examples=400)
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
    data = cut(json.dumps(EVENTS).encode(), [position])[0]
    try:
        assert is_sound(read_stream(ADAPTER, [data], "json-array"))
    except LoopspanError:
        return


@settings(max_examples=400)
@given(mutated(ASKED))
def test_spoiled_request_is_a_request_or_an_error_of_ours(body: Any) -> None:
    try:
        assert isinstance(ADAPTER.body(ADAPTER.request(body)), dict)
    except LoopspanError:
        return

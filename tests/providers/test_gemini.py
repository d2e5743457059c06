"""The Gemini adapter: what it sends, and what it reads of what was sent."""

from dataclasses import replace
from typing import Any

import pytest

from loopspan.errors import (
    UnsupportedContent,
)
from loopspan.messages import (
    Blob,
    File,
    Generic,
    Message,
    Parameters,
    Part,
    Reasoning,
    Reply,
    Request,
    Text,
    ToolCallResponse,
    ToolDefinition,
    Uri,
    assistant,
    system,
    user,
)
from loopspan.providers.gemini import Gemini
from loopspan.secrets import Secret

ADAPTER = Gemini()
BASE = "https://generativelanguage.googleapis.com/v1beta"
UPLOADED = f"{BASE}/files/abc"
SIGNED = {"gemini": {"thoughtSignature": "S"}}
SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}}}
TOOL = ToolDefinition("add", "Adds.", SCHEMA)


def body(*messages: Message, tools: tuple[ToolDefinition, ...] = (), **fields: Any) -> Any:
    return ADAPTER.body(Request("gemini-x", messages, tools, **fields))


def parts(*given: Part, role: str = "user") -> Any:
    return body(Message(role, given))["contents"][0]["parts"]


def asked(**fields: Any) -> Request:
    fields.setdefault("contents", [{"role": "user", "parts": [{"text": "Hi"}]}])
    return ADAPTER.request(fields, f"{BASE}/models/gemini-x:generateContent")


def answer(*content: Any, finish: Any = "STOP", **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(content)}, "finishReason": finish}
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "gemini-x-1"} | fields


def reply(*content: Any, **fields: Any) -> Reply:
    return ADAPTER.reply(answer(*content, **fields))


def call(name: str, id: str | None = None, **arguments: Any) -> dict[str, Any]:
    inner = {"name": name, "args": arguments}
    return {"functionCall": inner | ({"id": id} if id else {})}


def test_address_and_key() -> None:
    request = Request("gemini-x", ())
    assert ADAPTER.url(f"{BASE}/", request) == f"{BASE}/models/gemini-x:generateContent"
    assert ADAPTER.url(BASE, replace(request, stream=True)) == (
        f"{BASE}/models/gemini-x:streamGenerateContent?alt=sse"
    )
    assert ADAPTER.headers(Secret("k"))["x-goog-api-key"] == "k"
    assert "x-goog-api-key" not in ADAPTER.headers(None)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-x", "models/gemini-x"),
        ("tunedModels/mine", "tunedModels/mine"),
        ("a?b#c", "models/a%3Fb%23c"),
    ],
)
def test_model_is_in_the_address_and_read_from_it(model: str, path: str) -> None:
    url = ADAPTER.url(BASE, Request(model, ()))
    assert url == f"{BASE}/{path}:generateContent"
    assert ADAPTER.request({"contents": []}, url) == Request(model, ())


def test_key_in_a_recorded_address_is_not_read() -> None:
    url = f"{BASE}/models/gemini-x:streamGenerateContent?alt=sse&key=secret"
    assert ADAPTER.request({"contents": []}, url) == Request("gemini-x", (), stream=True)


def test_model_is_read_from_the_body_where_there_is_no_address() -> None:
    request = ADAPTER.request({"contents": [], "model": "models/gemini-x"})
    assert (request.model, request.stream) == ("gemini-x", False)


def test_plain_request() -> None:
    assert body(system("Be brief."), user("Hi"), assistant("Yes?")) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Yes?"}]},
        ],
    }


def test_system_messages_have_one_place_whatever_their_own() -> None:
    sent = body(system("A"), user("Hi"), Message("developer", (Text("B"),)))
    assert sent["systemInstruction"] == {"parts": [{"text": "A"}, {"text": "B"}]}
    assert len(sent["contents"]) == 1


def test_every_setting_has_its_field() -> None:
    settings = Parameters(0.5, 0.9, 40, 100, ("#",), 7, 0.1, 0.2, 2, "low")
    assert body(user("Hi"), parameters=settings)["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40,
        "maxOutputTokens": 100,
        "stopSequences": ["#"],
        "seed": 7,
        "frequencyPenalty": 0.1,
        "presencePenalty": 0.2,
        "candidateCount": 2,
        "thinkingConfig": {"thinkingLevel": "low"},
    }


def test_fields_of_the_providers_own_join_the_settings_and_win() -> None:
    own = {
        "safetySettings": [],
        "generationConfig": {"topK": 1, "thinkingConfig": {"includeThoughts": True}},
    }
    settings = Parameters(temperature=0.5, top_k=40, reasoning_level="low", extra=own)
    sent = body(user("Hi"), parameters=settings)
    assert sent["safetySettings"] == []
    assert sent["generationConfig"] == {
        "temperature": 0.5,
        "topK": 1,
        "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True},
    }
    assert own["generationConfig"] == {"topK": 1, "thinkingConfig": {"includeThoughts": True}}


def test_setting_of_another_type_stays_as_it_is() -> None:
    config = {"temperature": "hot", "topK": True, "stopSequences": []}
    parameters = asked(generationConfig=config).parameters
    assert parameters == Parameters(
        stop_sequences=(), extra={"generationConfig": {"temperature": "hot", "topK": True}}
    )


def test_functions_are_one_entry_with_json_schemas() -> None:
    search = ToolDefinition("googleSearch", type="googleSearch")
    sent = body(user("Hi"), tools=(TOOL, search, ToolDefinition("now")))
    assert sent["tools"] == [
        {
            "functionDeclarations": [
                {"name": "add", "description": "Adds.", "parametersJsonSchema": SCHEMA},
                {"name": "now"},
            ]
        },
        {"googleSearch": {}},
    ]


def test_no_tools_means_no_tools_and_no_choice() -> None:
    settings = Parameters(extra={"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}})
    assert body(user("Hi"), tool_choice="required", parameters=settings).keys() == {"contents"}


def test_tools_of_other_clients_are_read() -> None:
    entries: list[Any] = [
        {"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT"}}]},
        {"google_search": {"x": 1}, "codeExecution": None},
    ]
    request = asked(tools=entries)
    assert [(t.name, t.type, t.parameters) for t in request.tools] == [
        ("a", "function", {"type": "OBJECT"}),
        ("google_search", "google_search", None),
    ]
    assert ADAPTER.body(request)["tools"] == [entries[0], {"google_search": {"x": 1}}]


CHOICES: list[tuple[str, dict[str, Any]]] = [
    ("auto", {"mode": "AUTO"}),
    ("required", {"mode": "ANY"}),
    ("none", {"mode": "NONE"}),
    ("add", {"mode": "ANY", "allowedFunctionNames": ["add"]}),
]


@pytest.mark.parametrize(("choice", "config"), CHOICES)
def test_tool_choice(choice: str, config: dict[str, Any]) -> None:
    sent = body(user("Hi"), tools=(TOOL,), tool_choice=choice)
    assert sent["toolConfig"] == {"functionCallingConfig": config}
    assert ADAPTER.request(sent).tool_choice == choice


@pytest.mark.parametrize(
    "config",
    [{"mode": "VALIDATED"}, {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}, {}],
)
def test_choice_that_has_no_name_of_ours_goes_back_as_it_came(config: dict[str, Any]) -> None:
    wire = {
        "tools": [{"functionDeclarations": [{"name": "a"}]}],
        "toolConfig": {"functionCallingConfig": config, "retrievalConfig": {}},
    }
    request = asked(**wire)
    assert request.tool_choice is None
    assert ADAPTER.body(request)["toolConfig"] == wire["toolConfig"]


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (Text("a", extra=SIGNED), {"text": "a", "thoughtSignature": "S"}),
        (Text("", extra=SIGNED), {"text": "", "thoughtSignature": "S"}),
        (
            Reasoning("a", extra={"gemini": {"thought": True, "thoughtSignature": "S"}}),
            {"text": "a", "thought": True, "thoughtSignature": "S"},
        ),
        (
            Blob("image", "iVBO", "image/png"),
            {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
        ),
        (
            Blob("document", "JVBE", "application/pdf"),
            {"inlineData": {"mimeType": "application/pdf", "data": "JVBE"}},
        ),
        (
            Uri("video", "gs://b/v", "video/mp4", extra={"gemini": {"videoMetadata": {"fps": 1}}}),
            {
                "fileData": {"fileUri": "gs://b/v", "mimeType": "video/mp4"},
                "videoMetadata": {"fps": 1},
            },
        ),
        (File("document", UPLOADED), {"fileData": {"fileUri": UPLOADED}}),
        (
            Generic("executableCode", {"code": "1"}, extra=SIGNED),
            {"executableCode": {"code": "1"}, "thoughtSignature": "S"},
        ),
        (
            Generic("fileData", {"x": 1}, extra={"gemini": {}}),
            {"fileData": {"x": 1}},
        ),
    ],
)
def test_part_goes_out_and_comes_back(part: Part, wire: dict[str, Any]) -> None:
    assert parts(part) == [wire]
    (message,) = asked(contents=[{"role": "user", "parts": [wire]}]).messages
    assert message == Message("user", (part,))


def test_part_that_says_nothing_is_not_sent() -> None:
    thinking = Reasoning("Hm.", extra={"anthropic": {"type": "thinking", "signature": "S"}})
    foreign = Generic("server_tool_use", {"id": "s1"}, extra={"anthropic": {"type": "x"}})
    assert parts(Text(""), thinking, foreign, Text("Hi"), role="assistant") == [{"text": "Hi"}]
    assert body(assistant(thinking), user("Hi"))["contents"] == [
        {"role": "user", "parts": [{"text": "Hi"}]}
    ]


@pytest.mark.parametrize(
    "part",
    [
        Blob("image", "iVBO"),
        Generic("input_audio", {}, extra={"openai": {"x": 1}}),
        ToolCallResponse("3", "call_1"),
    ],
)
def test_part_that_cannot_be_sent_is_refused(part: Part) -> None:
    with pytest.raises(UnsupportedContent):
        body(user(part))


def test_message_is_converted_once() -> None:
    message = user("Hi")
    first, second = body(message), body(message, assistant("Yes?"))
    assert first["contents"][0]["parts"][0] is second["contents"][0]["parts"][0]


def test_role_of_the_instructions_goes_back_only_with_them() -> None:
    instructions = {"role": "user", "parts": [{"text": "Be brief."}]}
    request = asked(systemInstruction=instructions)
    assert request.messages[0] == system("Be brief.")
    assert ADAPTER.body(request)["systemInstruction"] == instructions
    without = replace(request, messages=request.messages[1:])
    assert "systemInstruction" not in ADAPTER.body(without)

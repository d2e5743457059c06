"""The Gemini adapter: what it sends and how it reads, one behaviour a test."""

from dataclasses import replace
from typing import Any

import pytest

from loopspan.errors import (
    AuthenticationError,
    BadResponse,
    InvalidRequestError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    ServerError,
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
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    Uri,
    Usage,
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


RESULTS: list[tuple[Any, bool | None, dict[str, Any]]] = [
    ("3", None, {"result": "3"}),
    ([3], None, {"result": [3]}),
    (None, None, {"result": None}),
    ({"sum": 3}, None, {"sum": 3}),
    ("no", True, {"error": "no"}),
    ({"error": "no such user"}, None, {"result": {"error": "no such user"}}),
    ({"error": {"a": 1}}, True, {"error": {"error": {"a": 1}}}),
]


@pytest.mark.parametrize(("response", "is_error", "wire"), RESULTS)
def test_result_is_an_object_on_the_wire(
    response: Any, is_error: bool | None, wire: dict[str, Any]
) -> None:
    part = ToolCallResponse(response, None, "add", is_error)
    sent = body(Message("tool", (part,)))
    assert sent["contents"][0]["parts"] == [{"functionResponse": {"name": "add", "response": wire}}]
    assert ADAPTER.request(sent).messages == (Message("tool", (part,)),)


@pytest.mark.parametrize("wire", [{"output": "15"}, {"result": {"a": 1}}, {}, {"output": {}}])
def test_result_of_another_client_is_unwrapped_and_goes_back_as_it_came(wire: Any) -> None:
    inner = {"name": "add", "response": wire, "scheduling": "SILENT"}
    contents = [{"role": "user", "parts": [{"functionResponse": inner}]}]
    request = asked(contents=contents)
    (part,) = request.messages[0].parts
    assert isinstance(part, ToolCallResponse)
    assert part.response == next(iter(wire.values()), {})
    assert ADAPTER.body(request)["contents"] == contents


def test_results_of_one_round_are_one_content() -> None:
    results = [Message("tool", (ToolCallResponse(str(n), None, "add"),)) for n in range(3)]
    contents = body(user("Hi"), *results, user("And?"))["contents"]
    assert [(c["role"], len(c["parts"])) for c in contents] == [
        ("user", 1),
        ("user", 3),
        ("user", 1),
    ]


def test_results_beside_text_stay_one_message() -> None:
    wire = [{"functionResponse": {"name": "add", "response": {}}}, {"text": "Hi"}]
    (message,) = asked(contents=[{"role": "user", "parts": wire}]).messages
    assert [part.type for part in message.parts] == ["tool_call_response", "text"]


def call(name: str, id: str | None = None, **arguments: Any) -> dict[str, Any]:
    inner = {"name": name, "args": arguments}
    return {"functionCall": inner | ({"id": id} if id else {})}


def sent_results(turn: Message, *results: ToolCallResponse) -> list[Any]:
    messages = (turn, *(Message("tool", (result,)) for result in results))
    content = body(*messages)["contents"][-1]
    return [part["functionResponse"] for part in content["parts"]]


def test_as_04_id_of_the_provider_goes_back_with_the_call_and_its_result() -> None:
    turn = reply(call("add", "a1", n=1), call("add", "b2", n=2)).message
    assert [c.id for c in turn.tool_calls] == ["a1", "b2"]
    assert parts(*turn.parts, role="assistant") == [
        call("add", "a1", n=1),
        call("add", "b2", n=2),
    ]
    sent = sent_results(turn, *(ToolCallResponse("3", c.id, c.name) for c in turn.tool_calls))
    assert [(r["id"], r["name"]) for r in sent] == [("a1", "add"), ("b2", "add")]


def test_as_04_made_id_is_not_sent() -> None:
    turn = reply(call("add", n=1), call("add", n=2)).message
    first, second = turn.tool_calls
    assert first.id
    assert second.id
    assert first.id != second.id
    assert parts(*turn.parts, role="assistant") == [call("add", n=1), call("add", n=2)]
    sent = sent_results(turn, ToolCallResponse("3", first.id, "add"))
    assert sent == [{"name": "add", "response": {"result": "3"}}]


def test_as_04_made_ids_differ_from_round_to_round() -> None:
    counted = {"promptTokenCount": 1, "candidatesTokenCount": 2}
    rounds = [
        answer(call("add")),
        answer(call("add"), responseId="r2"),
        answer(call("add"), usageMetadata=counted),
        answer(call("add"), usageMetadata=counted | {"promptTokenCount": 9}),
        answer(call("add", n=1)),
    ]
    ids = [c.id for r in rounds for c in ADAPTER.reply(r).message.tool_calls]
    assert len(set(ids)) == len(rounds)


def test_as_04_id_given_twice_is_told_apart() -> None:
    first, second = reply(call("add", "a1"), call("add", "a1")).message.tool_calls
    assert first.id == "a1"
    assert second.id not in (None, "a1")
    sent = sent_results(assistant(first, second), ToolCallResponse("3", second.id, "add"))
    assert sent[0]["id"] == "a1"


def test_result_answers_the_latest_call_of_its_id() -> None:
    old = assistant(ToolCall("add", {}, "c", extra={"gemini": {"functionCall": {"id": "old"}}}))
    new = assistant(ToolCall("add", {}, "c", extra={"gemini": {"functionCall": {"id": "new"}}}))
    result = Message("tool", (ToolCallResponse("3", "c"),))
    contents = body(old, result, new, result)["contents"]
    answered = [c["parts"][0]["functionResponse"] for c in contents if c["role"] == "user"]
    assert [(r["id"], r["name"]) for r in answered] == [("old", "add"), ("new", "add")]


def test_id_of_another_providers_call_is_not_sent() -> None:
    turn = assistant(ToolCall("add", {"n": 1}, "toolu_1"))
    assert parts(*turn.parts, role="assistant") == [call("add", n=1)]
    assert "id" not in sent_results(turn, ToolCallResponse("3", "toolu_1", "add"))[0]


def test_results_without_ids_join_their_calls_by_name_and_order() -> None:
    answered = [
        {"functionResponse": {"name": name, "response": {"result": text}}}
        for name, text in (("b", "1"), ("a", "2"), ("a", "3"))
    ]
    request = asked(
        contents=[
            {"role": "model", "parts": [call("a"), call("b"), call("a")]},
            {"role": "user", "parts": answered},
        ]
    )
    first, second, third = request.messages[0].tool_calls
    joined = [part for m in request.messages[1:] for part in m.parts]
    assert [p.id for p in joined if isinstance(p, ToolCallResponse)] == [
        second.id,
        first.id,
        third.id,
    ]


def test_id_of_a_result_whose_call_has_none_goes_back() -> None:
    contents = [
        {"role": "model", "parts": [call("add")]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "7", "name": "add", "response": {}}}],
        },
    ]
    request = asked(contents=contents)
    assert ADAPTER.body(request)["contents"] == contents
    (result,) = request.messages[1].parts
    assert isinstance(result, ToolCallResponse)
    assert result.id == request.messages[0].tool_calls[0].id


@pytest.mark.parametrize("arguments", [{}, {"args": None}, {"args": ""}, {"args": {}}])
def test_tc_02_missing_arguments_are_an_empty_object(arguments: dict[str, Any]) -> None:
    (found,) = reply({"functionCall": {"name": "now", **arguments}}).message.tool_calls
    assert found.arguments == {}


def test_ll_01_arguments_of_another_model_that_are_no_object_are_sent_in_one() -> None:
    sent = parts(ToolCall("add", '{"city": "Osl', "c1"), role="assistant")
    assert sent == [call("add", arguments='{"city": "Osl')]


def test_tc_04_text_call_text_keep_their_order() -> None:
    content = [{"text": "Let me see."}, call("add", n=1), {"text": "Done."}]
    message = reply(*content).message
    assert [part.type for part in message.parts] == ["text", "tool_call", "text"]
    assert parts(*message.parts, role="assistant") == content


def test_ll_02_stop_with_a_call_is_a_tool_call() -> None:
    choice = reply(call("add")).choices[0]
    assert (choice.finish_reason, choice.finish_reason_raw) == ("tool_call", "STOP")


def test_call_that_was_cut_stays_cut() -> None:
    assert reply(call("add"), finish="MAX_TOKENS").finish_reason == "length"


def test_as_06_part_of_an_unknown_kind_keeps_its_place_and_body() -> None:
    content = [{"text": "a"}, {"hologram": {"x": 1}, "thoughtSignature": "S"}, {"text": "b"}]
    message = reply(*content).message
    assert message.parts[1] == Generic("hologram", {"x": 1}, extra=SIGNED)
    assert message.text == "ab"
    assert parts(*message.parts, role="assistant") == content


def test_signature_stays_on_its_part() -> None:
    content = [
        {"text": "Hm.", "thought": True},
        call("add") | {"thoughtSignature": "A"},
        call("add"),
        {"text": "", "thoughtSignature": "B"},
    ]
    assert parts(*reply(*content).message.parts, role="assistant") == content


def test_empty_text_is_left_out_of_an_answer() -> None:
    content = [{"text": ""}, {"text": "", "thought": True}, {}, {"text": "a"}]
    assert reply(*content).message.parts == (Text("a"),)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("OTHER", "error"),
        ("LANGUAGE", "error"),
        ("NEW_WORD", "NEW_WORD"),
        (None, "error"),
    ],
)
def test_as_05_finish_reason(word: str | None, reason: str) -> None:
    choice = reply({"text": "a"}, finish=word).choices[0]
    assert (choice.finish_reason, choice.finish_reason_raw) == (reason, word)


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "stop"), (2, "length"), (9, "content_filter"), (10, "error")]
)
def test_as_05_finish_reason_as_a_number(number: int, reason: str) -> None:
    choice = reply({"text": "a"}, finish=number).choices[0]
    assert (choice.finish_reason, choice.finish_reason_raw) == (reason, str(number))


def test_as_05_malformed_call_without_content() -> None:
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(add(1"}
    found = ADAPTER.reply({"candidates": [candidate]})
    assert (found.finish_reason, found.message) == ("error", Message("assistant", ()))


def test_as_05_blocked_prompt() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "g"}
    found = ADAPTER.reply(blocked | {"usageMetadata": {"promptTokenCount": 4}})
    assert found.message == Message("assistant", ())
    assert (found.finish_reason, found.finish_reason_raw) == (
        "content_filter",
        "PROHIBITED_CONTENT",
    )
    assert found.usage == Usage(4)


def test_answer_of_nothing_is_in_error_and_keeps_its_usage() -> None:
    found = ADAPTER.reply({"usageMetadata": {"promptTokenCount": 4}, "responseId": "r"})
    assert (found.finish_reason, found.usage) == ("error", Usage(4))


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(BadResponse):
        ADAPTER.reply({"choices": []})


def test_each_candidate_is_a_choice() -> None:
    candidates = [
        {"index": n, "content": {"parts": [call("add")]}, "finishReason": "STOP"} for n in range(2)
    ]
    choices = ADAPTER.reply({"candidates": candidates}).choices
    assert len({c.id for choice in choices for c in choice.message.tool_calls}) == 2


def test_usage_adds_up_to_the_total() -> None:
    told = {
        "promptTokenCount": 25,
        "toolUsePromptTokenCount": 1130,
        "candidatesTokenCount": 49,
        "thoughtsTokenCount": 38,
        "cachedContentTokenCount": 5,
        "totalTokenCount": 1242,
    }
    usage = reply({"text": "a"}, usageMetadata=told).usage
    assert usage == Usage(1155, 87, 5, None, 38)
    assert usage.total_tokens == 1242


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({}, Usage()),
        ({"promptTokenCount": 0}, Usage(0)),
        ({"thoughtsTokenCount": 2}, Usage(None, 2, reasoning_output_tokens=2)),
        ({"candidatesTokenCount": 2}, Usage(None, 2)),
        ({"toolUsePromptTokenCount": 2}, Usage()),
        ({"promptTokenCount": "4", "candidatesTokenCount": True}, Usage()),
    ],
)
def test_what_usage_does_not_tell_is_unknown(told: dict[str, Any], usage: Usage) -> None:
    assert reply({"text": "a"}, usageMetadata=told).usage == usage


def test_ids_of_the_answer() -> None:
    found = reply({"text": "a"})
    assert (found.response_id, found.response_model) == ("r1", "gemini-x-1")


def failure(code: Any, status: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": "m", "status": status, "details": list(details)}}


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48.5s"}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("status", "word", "kind"),
    [
        (400, "INVALID_ARGUMENT", InvalidRequestError),
        (403, "PERMISSION_DENIED", AuthenticationError),
        (404, "NOT_FOUND", NotFoundError),
        (429, "RESOURCE_EXHAUSTED", RateLimitError),
        (503, "UNAVAILABLE", ServerError),
    ],
)
def test_error(status: int, word: str, kind: type[ProviderError]) -> None:
    error = ADAPTER.error(status, failure(status, word))
    assert type(error) is kind
    assert (error.status, error.code, error.message) == (status, word, "m")
    assert error.retry_after is None


def test_wrong_key_is_an_authentication_error_although_it_is_a_400() -> None:
    error = ADAPTER.error(400, failure(400, "INVALID_ARGUMENT", BAD_KEY))
    assert isinstance(error, AuthenticationError)
    assert (error.status, error.code) == (400, "INVALID_ARGUMENT")


def test_delay_of_a_limit_is_in_the_details() -> None:
    error = ADAPTER.error(429, failure(429, "RESOURCE_EXHAUSTED", {"x": 1}, RETRY))
    assert error.retry_after == 48.5


def test_error_may_stand_in_an_array() -> None:
    error = ADAPTER.error(404, [failure(404, "NOT_FOUND")])
    assert (type(error), error.code) == (NotFoundError, "NOT_FOUND")


@pytest.mark.parametrize("body", [[], [[]], "x", {"error": "x"}, {"error": {"details": 1}}])
def test_error_of_another_form_is_still_an_error(body: Any) -> None:
    assert type(ADAPTER.error(500, body)) is ServerError


def test_error_inside_a_200_is_raised() -> None:
    with pytest.raises(ServerError) as caught:
        ADAPTER.reply(failure(503, "UNAVAILABLE"))
    assert caught.value.code == "UNAVAILABLE"


def test_role_of_the_instructions_goes_back_only_with_them() -> None:
    instructions = {"role": "user", "parts": [{"text": "Be brief."}]}
    request = asked(systemInstruction=instructions)
    assert request.messages[0] == system("Be brief.")
    assert ADAPTER.body(request)["systemInstruction"] == instructions
    without = replace(request, messages=request.messages[1:])
    assert "systemInstruction" not in ADAPTER.body(without)

"""Requests and answers of the Responses adapter."""

from typing import Any

import pytest

from loopspan.errors import (
    BadResponse,
    ConfigurationError,
    InvalidRequestError,
    RateLimitError,
    ServerError,
    UnsupportedContent,
)
from loopspan.messages import (
    Blob,
    Extra,
    File,
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
    Uri,
    Usage,
    assistant,
    system,
    user,
)
from loopspan.providers.openai_responses import OpenAIResponses
from loopspan.secrets import Secret

ADAPTER = OpenAIResponses()

Wire = dict[str, Any]


def own(**details: Any) -> Extra:
    return {"openai-responses": details}


def sent(*messages: Message, **settings: Any) -> Wire:
    return ADAPTER.body(Request("gpt", messages, parameters=Parameters(**settings)))


def body(*output: Wire, **fields: Any) -> Wire:
    made = {"id": "resp_1", "object": "response", "model": "gpt-5", "status": "completed"}
    return {**made, "error": None, "output": list(output), **fields}


def call(arguments: Any = "{}", **fields: Any) -> Wire:
    return {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments, **fields}


def message(*content: Wire, **fields: Any) -> Wire:
    return {"type": "message", "role": "assistant", "content": list(content), **fields}


def output_text(text: str) -> Wire:
    return {"type": "output_text", "text": text}


# Dialogues


def test_first_system_message_is_the_instructions() -> None:
    assert sent(system("Be brief."), user("hi")) == {
        "model": "gpt",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "hi"}],
    }


def test_later_system_message_stands_in_the_dialogue() -> None:
    body = sent(user("hi"), system("Be brief."))
    assert "instructions" not in body
    assert body["input"][1] == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    "first",
    [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "system", "content": "Be brief.", "status": "completed"},
    ],
)
@pytest.mark.parametrize("instructions", [{}, {"instructions": "x"}, {"instructions": ""}])
def test_instructions_in_the_dialogue_stay_in_it(first: Wire, instructions: Wire) -> None:
    body = {"model": "gpt", **instructions, "input": [first, {"role": "user", "content": "hi"}]}
    request = ADAPTER.request(body)
    assert [m.role for m in request.messages][-2:] == [first["role"], "user"]
    assert ADAPTER.body(request) == body


def test_null_instructions_are_no_message() -> None:
    body = {"model": "gpt", "instructions": None, "input": "hi"}
    request = ADAPTER.request(body)
    assert [m.role for m in request.messages] == ["user"]
    assert ADAPTER.body(request) == body


def test_input_that_is_a_text_becomes_a_list_when_the_dialogue_goes_on() -> None:
    first = ADAPTER.request({"model": "gpt", "input": "hi"}).messages
    assert sent(*first)["input"] == "hi"
    assert sent(*first, assistant("ho"))["input"] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "ho"},
    ]


def test_items_of_the_assistant_in_a_row_are_one_message() -> None:
    items = [
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
        message(output_text("a"), id="msg_1", phase="commentary"),
        message(output_text("b"), id="msg_2"),
        {"role": "assistant", "content": "c"},
        call(id="fc_1"),
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "mcp_approval_response", "approve": True},
        {"role": "assistant", "content": "d"},
    ]
    body = {"model": "gpt", "input": items}
    request = ADAPTER.request(body)
    assert [m.role for m in request.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [p.type for p in request.messages[1].parts] == [
        *("reasoning", "text", "text", "text", "tool_call", "web_search_call")
    ]
    assert ADAPTER.body(request) == body


def test_several_parts_are_a_list() -> None:
    image = Blob("image", "aGk=", "image/png")
    assert sent(user("what?", image))["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "what?"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            ],
        }
    ]
    assert sent(user("x"), assistant("a", "b"))["input"][1] == {
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
    }


def test_item_is_made_once() -> None:
    request = Request("gpt", (user("hi"), assistant("ho")))
    first, second = (ADAPTER.body(request)["input"] for _ in range(2))
    assert all(a is b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        (
            {"type": "input_image", "image_url": "https://example.org/a", "detail": "low"},
            Uri("image", "https://example.org/a", extra=own(part={"detail": "low"})),
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            Blob("image", "aGk=", "image/png"),
        ),
        ({"type": "input_image", "file_id": "f"}, File("image", "f")),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:a/b;base64,aGk="},
            Blob("document", "aGk=", "a/b", extra=own(part={"filename": "a.pdf"})),
        ),
        (
            {
                "type": "input_file",
                "filename": "document.pdf",
                "file_data": "data:application/pdf;base64,aGk=",
            },
            Blob("document", "aGk=", "application/pdf"),
        ),
        (
            {"type": "input_file", "file_url": "https://example.org/a"},
            Uri("document", "https://example.org/a"),
        ),
        ({"type": "input_file", "file_id": "f"}, File("document", "f")),
        (
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            Blob("audio", "aGk=", "audio/mpeg"),
        ),
        *(
            (wire, Generic(wire["type"], wire, extra=own(place="content")))
            for wire in (
                {"type": "hologram", "x": 1},
                {"type": "input_image", "image_url": "data:image/svg+xml,<svg/>"},
                {"type": "input_file", "file_data": "aGk="},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "flac"}},
            )
        ),
    ],
)
def test_content_is_read_and_written(wire: Wire, part: Part) -> None:
    body = {"model": "gpt", "input": [{"role": "user", "content": [wire]}]}
    request = ADAPTER.request(body)
    assert request.messages[0].parts == (part,)
    assert ADAPTER.body(request) == body


@pytest.mark.parametrize(
    "part",
    [
        Blob("video", "aGk=", "video/mp4"),
        Blob("image", "aGk="),
        Blob("audio", "aGk=", "audio/flac"),
        Uri("audio", "https://example.org/a.mp3"),
        Generic("document", {"x": 1}, extra={"anthropic": {"type": "document"}}),
    ],
)
def test_content_that_the_api_does_not_take_is_refused(part: Part) -> None:
    with pytest.raises(UnsupportedContent):
        sent(user("hi", part))


def test_part_of_no_provider_is_sent_as_it_is() -> None:
    content = sent(user("hi", Generic("input_video", {"data": "x"})))["input"][0]["content"]
    assert content[1] == {"type": "input_video", "data": "x"}


def test_details_of_another_providers_answer_are_not_sent() -> None:
    foreign = Reasoning("hm", extra={"anthropic": {"signature": "s"}})
    search = Generic("server_tool_use", {"id": "s"}, extra={"anthropic": {}})
    assert sent(user("x"), assistant(foreign, search, "hi"), user("y"))["input"][1:] == [
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "y"},
    ]
    assert sent(user("x"), assistant(foreign))["input"] == [{"role": "user", "content": "x"}]


def test_results_are_items_and_text_beside_them_is_the_users() -> None:
    parts = (ToolCallResponse("1", "a"), ToolCallResponse({"x": 2}, "b"), Text("go"))
    assert sent(Message("tool", parts))["input"] == [
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": '{"x":2}'},
        {"role": "user", "content": "go"},
    ]


def test_result_of_a_custom_call_is_of_its_type() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sh", "input": "ls"}
    asked = ADAPTER.reply(body(item)).message
    assert asked.tool_calls[0].arguments == "ls"
    assert sent(asked, Message("tool", (ToolCallResponse("a b", "c"),)))["input"] == [
        item,
        {"type": "custom_tool_call_output", "call_id": "c", "output": "a b"},
    ]


# Settings and tools


def test_settings_have_the_names_of_the_api() -> None:
    body = sent(user("hi"), temperature=0.5, top_p=0.9, max_tokens=7, reasoning_level="low")
    assert {k: v for k, v in body.items() if k not in ("model", "input")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_output_tokens": 7,
        "reasoning": {"effort": "low"},
    }


def test_reasoning_of_extra_stands_beside_the_level() -> None:
    extra = {"reasoning": {"summary": "auto"}, "store": False}
    body = sent(user("hi"), reasoning_level="low", extra=extra)
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["store"] is False


@pytest.mark.parametrize(
    "setting",
    [
        {"top_k": 1},
        {"seed": 1},
        {"stop_sequences": ("a",)},
        {"frequency_penalty": 1.0},
        {"presence_penalty": 1.0},
        {"choice_count": 2},
    ],
)
def test_setting_that_the_api_does_not_have_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(setting))):
        sent(user("hi"), **setting)


def test_one_answer_is_what_the_api_gives() -> None:
    assert sent(user("hi"), choice_count=1) == sent(user("hi"))


def test_at02_nothing_is_sent_that_is_not_set() -> None:
    assert sent(user("hi")).keys() == {"model", "input"}


def test_stream_is_said_where_it_is_wanted() -> None:
    assert ADAPTER.body(Request("gpt", (user("hi"),), stream=True))["stream"] is True
    assert ADAPTER.request({"model": "gpt", "input": "hi", "stream": True}).stream is True


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "name": "f", "description": None, "parameters": {}, "strict": True},
        {"type": "function", "name": "f", "parameters": None},
        {"type": "custom", "name": "custom", "format": {"type": "text"}},
        {"type": "web_search", "filters": {"allowed_domains": ["example.org"]}},
        {"type": "mcp", "server_label": "a", "server_url": "https://example.org"},
    ],
)
def test_tool_is_read_and_written(tool: Wire) -> None:
    body = {"model": "gpt", "input": "hi", "tools": [tool]}
    request = ADAPTER.request(body)
    assert request.tools[0].type == tool["type"]
    assert request.tools[0].name == tool.get("name", tool["type"])
    assert ADAPTER.body(request) == body


@pytest.mark.parametrize(
    ("wire", "choice"),
    [
        ("auto", "auto"),
        ("required", "required"),
        ({"type": "function", "name": "f"}, "f"),
        ({"type": "custom", "name": "sh"}, "sh"),
        ({"type": "web_search"}, "web_search"),
        ({"type": "function", "name": "auto"}, None),
        ({"type": "image_generation"}, None),
        ({"type": "allowed_tools", "mode": "auto", "tools": []}, None),
        (None, None),
    ],
)
def test_tool_choice_is_read_and_written(wire: Any, choice: str | None) -> None:
    tools = [
        {"type": "function", "name": "f"},
        {"type": "custom", "name": "sh"},
        {"type": "web_search"},
    ]
    body = {"model": "gpt", "input": "hi", "tools": tools, "tool_choice": wire}
    request = ADAPTER.request(body)
    assert request.tool_choice == choice
    assert ADAPTER.body(request) == body


def test_tool_choice_is_sent_with_tools_only() -> None:
    offered = Request("gpt", (user("hi"),), (ToolDefinition("f"),), tool_choice="f")
    assert ADAPTER.body(offered)["tool_choice"] == {"type": "function", "name": "f"}
    assert "tool_choice" not in ADAPTER.body(Request("gpt", (user("hi"),), tool_choice="none"))


@pytest.mark.parametrize(
    "fields", [{"tools": [], "tool_choice": "auto"}, {"tools": None}, {"tool_choice": "none"}]
)
def test_empty_tools_go_back_as_they_came(fields: Wire) -> None:
    body = {"model": "gpt", "input": "hi", **fields}
    assert ADAPTER.body(ADAPTER.request(body)) == body


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/responses"),
        ("https://x.org/v1/responses", "https://x.org/v1/responses"),
        ("https://x.org/openai?api-version=1", "https://x.org/openai/responses?api-version=1"),
    ],
)
def test_url(base: str, url: str) -> None:
    assert ADAPTER.url(base, Request("gpt", ())) == url


def test_key_is_in_the_headers_only() -> None:
    assert ADAPTER.headers(Secret("k"))["authorization"] == "Bearer k"
    assert "authorization" not in ADAPTER.headers(None)


# Answers


@pytest.mark.parametrize(
    ("fields", "reason", "raw"),
    [
        ({}, "stop", "completed"),
        ({"output": [call()]}, "tool_call", "completed"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
            "incomplete/max_output_tokens",
        ),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [call('{"a')],
            },
            "length",
            "incomplete/max_output_tokens",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
            "incomplete/content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete", "incomplete"),
        ({"status": "failed"}, "error", "failed"),
        ({"status": "cancelled"}, "error", "cancelled"),
        ({"status": "in_progress"}, "error", "in_progress"),
        ({"status": None}, "error", None),
    ],
)
def test_finish_reason(fields: Wire, reason: str, raw: str | None) -> None:
    reply = ADAPTER.reply(body(**fields))
    assert (reply.finish_reason, reply.finish_reason_raw) == (reason, raw)


def test_call_has_both_ids() -> None:
    item = call(id="fc_1", status="completed")
    (asked,) = ADAPTER.reply(body(item)).message.tool_calls
    assert asked == ToolCall("f", {}, "c", extra=own(item={"id": "fc_1", "status": "completed"}))
    assert sent(assistant(asked))["input"] == [item]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        (None, {}),
        ("null", {}),
        ('{"a": 1.0}', {"a": 1.0}),
        ('"text"', "text"),
        ('{"city": "Osl', '{"city": "Osl'),
        ("{'city': 'Oslo'}", "{'city': 'Oslo'}"),
    ],
)
def test_ll01_tc02_arguments_are_parsed_and_go_back_as_they_came(raw: Any, arguments: Any) -> None:
    (asked,) = ADAPTER.reply(body(call(raw))).message.tool_calls
    assert asked.arguments == arguments
    assert sent(assistant(asked))["input"] == [call(raw)]


def test_tc02_absent_arguments_are_an_empty_object() -> None:
    item = {k: v for k, v in call().items() if k != "arguments"}
    (asked,) = ADAPTER.reply(body(item)).message.tool_calls
    assert asked.arguments == {}
    assert sent(assistant(asked))["input"] == [call("{}")]


def test_thinking_is_its_text_or_else_its_summary() -> None:
    summary = [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]
    told, shown = (
        {"type": "reasoning", "id": "rs_1", "summary": summary, **fields}
        for fields in ({}, {"content": [{"type": "reasoning_text", "text": "Raw."}]})
    )
    message = ADAPTER.reply(body(told, shown)).message
    assert [part.content for part in message.parts if isinstance(part, Reasoning)] == [
        "One.\n\nTwo.",
        "Raw.",
    ]
    assert sent(message)["input"] == [told, shown]


def test_refusal_is_text_and_ends_as_a_stop() -> None:
    item = message({"type": "refusal", "refusal": "No."}, id="msg_1")
    reply = ADAPTER.reply(body(item))
    assert (reply.message.text, reply.finish_reason) == ("No.", "stop")
    assert sent(reply.message)["input"] == [item]


def test_as06_unknown_content_and_items_are_kept_in_their_place() -> None:
    hologram = {"type": "hologram", "x": 1}
    item = message(output_text("a"), hologram, output_text("b"), id="msg_1")
    search = {"type": "web_search_call", "id": "ws_1"}
    answer = ADAPTER.reply(body(search, item)).message
    assert [p.type for p in answer.parts] == ["web_search_call", "text", "hologram", "text"]
    assert answer.text == "ab"
    assert answer.parts[2] == Generic("hologram", hologram, extra=own(place="content"))
    assert sent(answer)["input"] == [search, item]


def test_tk04_parts_of_the_usage_are_not_added() -> None:
    usage = {
        "input_tokens": 2000,
        "input_tokens_details": {"cached_tokens": 1500, "cache_write_tokens": 100},
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 120},
        "total_tokens": 2300,
    }
    assert ADAPTER.reply(body(usage=usage)).usage == Usage(2000, 300, 1500, 100, 120)


@pytest.mark.parametrize("usage", [None, {}])
def test_tk12_missing_usage_is_unknown(usage: Any) -> None:
    assert ADAPTER.reply(body(usage=usage)).usage == Usage()


def test_tk10_cost_that_a_server_reports_is_taken() -> None:
    assert ADAPTER.reply(body(usage={"cost": 0.00123})).cost_usd == 0.00123
    assert ADAPTER.reply(body()).cost_usd is None


def test_details_tell_the_api_and_the_tier() -> None:
    assert ADAPTER.reply(body(service_tier="flex")).details == {
        "openai.api.type": "responses",
        "openai.response.service_tier": "flex",
    }
    assert ADAPTER.reply(body(service_tier=None)).details == {"openai.api.type": "responses"}


# Errors


def test_error_inside_an_answer_is_raised() -> None:
    failed = body(status="failed", error={"code": "server_error", "message": "x"})
    with pytest.raises(ServerError, match="x"):
        ADAPTER.reply(failed)


def test_answer_without_output_is_bad() -> None:
    with pytest.raises(BadResponse):
        ADAPTER.reply({"id": "resp_1", "status": "completed"})


def test_rate_limit_tells_how_long_to_wait() -> None:
    wire = {"error": {"code": "rate_limit_exceeded", "message": "Please try again in 20ms."}}
    told, header = (ADAPTER.error(429, wire, h) for h in ({}, {"Retry-After": "3"}))
    assert isinstance(told, RateLimitError)
    assert (told.retry_after, header.retry_after) == (0.02, 3.0)


def test_refused_request() -> None:
    wire = {"error": {"type": "invalid_request_error", "code": None, "message": "x"}}
    error = ADAPTER.error(400, wire, {"x-request-id": "req_1"})
    assert isinstance(error, InvalidRequestError)
    assert (error.code, error.request_id) == ("invalid_request_error", "req_1")

"""Requests of the Ollama adapter: messages, settings, tools, addresses."""

from typing import Any

import pytest

from loopspan.errors import (
    ConfigurationError,
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
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    Uri,
    assistant,
    system,
    user,
)
from loopspan.secrets import Secret
from tests.providers.test_ollama import OLLAMA, body, call, wire


def test_message_is_encoded_once() -> None:
    request = Request("m", (user("hi"),))
    first, second = (OLLAMA.body(request)["messages"][0] for _ in range(2))
    assert first is second


def test_stream_is_always_said() -> None:
    assert OLLAMA.body(Request("m", (user("hi"),)))["stream"] is False
    assert OLLAMA.body(Request("m", (user("hi"),), stream=True))["stream"] is True


def test_settings_are_options() -> None:
    assert wire(user("hi"), temperature=0.5, max_tokens=7, stop_sequences=("a",), seed=3)[
        "options"
    ] == {"temperature": 0.5, "num_predict": 7, "stop": ["a"], "seed": 3}


def test_options_of_extra_stand_beside_the_settings_and_win() -> None:
    extra = {"options": {"num_ctx": 9, "seed": 4}, "keep_alive": "5m"}
    sent = wire(user("hi"), seed=3, top_k=2, extra=extra)
    assert sent["options"] == {"top_k": 2, "num_ctx": 9, "seed": 4}
    assert sent["keep_alive"] == "5m"


def test_endless_num_predict_is_no_limit_of_tokens() -> None:
    sent = {"model": "m", "messages": [], "stream": True, "options": {"num_predict": -1}}
    decoded = OLLAMA.request(sent)
    assert decoded.parameters == Parameters(extra={"options": {"num_predict": -1}})
    assert OLLAMA.body(decoded) == sent


@pytest.mark.parametrize(
    ("think", "level"), [("high", "high"), (False, "none"), (True, None), (None, None), ("", None)]
)
def test_think_is_the_reasoning_level(think: Any, level: str | None) -> None:
    sent = {"model": "m", "messages": [], "stream": False, "think": think}
    decoded = OLLAMA.request(sent)
    assert decoded.parameters.reasoning_level == level
    assert OLLAMA.body(decoded) == sent


def test_request_without_stream_is_streamed() -> None:
    assert OLLAMA.request({"model": "m", "messages": []}).stream is True


def test_tool_choice_none_offers_no_tools() -> None:
    request = Request("m", (user("hi"),), (ToolDefinition("t"),), tool_choice="none")
    assert "tools" not in OLLAMA.body(request)


@pytest.mark.parametrize("choice", ["required", "t"])
def test_forced_tool_choice_is_refused(choice: str) -> None:
    request = Request("m", (user("hi"),), (ToolDefinition("t"),), tool_choice=choice)
    with pytest.raises(ConfigurationError, match=choice):
        OLLAMA.body(request)


def test_tool_of_another_type_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="web_search"):
        OLLAMA.body(Request("m", (user("hi"),), (ToolDefinition("s", type="web_search"),)))


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "t", "description": None, "strict": True}},
        {"type": "function", "function": {"name": "t", "parameters": {}}, "x": 1},
        {"type": "web", "name": "w", "depth": 2},
        {"kind": 1},
    ],
)
def test_offered_tool_keeps_what_we_have_no_name_for(tool: dict[str, Any]) -> None:
    sent = {"model": "m", "messages": [], "stream": True, "tools": [tool]}
    assert OLLAMA.body(OLLAMA.request(sent)) == sent


def test_each_result_is_a_message_and_text_after_it_is_the_users() -> None:
    results = (ToolCallResponse("1", "a", "f"), ToolCallResponse({"x": 2}, "b", "g"), Text("go"))
    assert wire(Message("tool", results))["messages"] == [
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "a"},
        {"role": "tool", "content": '{"x":2}', "tool_name": "g", "tool_call_id": "b"},
        {"role": "user", "content": "go"},
    ]


def test_result_without_a_name_gets_that_of_its_call() -> None:
    asked = assistant(ToolCall("f", {}, "a"), ToolCall("g", {}, "b"))
    sent = wire(asked, Message("tool", (ToolCallResponse("2", "b"),)))["messages"]
    assert sent[1]["tool_name"] == "g"


def test_results_without_ids_belong_to_the_calls_in_order() -> None:
    dialogue = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("f", {"n": 1}), call("g", {}), call("f", {"n": 2})],
        },
        {"role": "tool", "content": "g", "tool_name": "g"},
        {"role": "tool", "content": "f1", "tool_name": "f"},
        {"role": "tool", "content": "f2"},
        {"role": "tool", "content": "lost", "tool_name": "f"},
    ]
    sent = {"model": "m", "messages": dialogue, "stream": True}
    decoded = OLLAMA.request(sent)
    first, second, third = (c.id for c in decoded.messages[0].tool_calls)
    found = [m.parts[0] for m in decoded.messages[1:]]
    assert [p.id for p in found if isinstance(p, ToolCallResponse)] == [second, first, third, None]
    assert OLLAMA.body(decoded) == sent


def test_results_without_ids_get_those_that_the_server_gave() -> None:
    dialogue = [
        {"role": "assistant", "content": "", "tool_calls": [call("f", {}, id="call_1")]},
        {"role": "tool", "content": "1", "tool_name": "f"},
    ]
    sent = {"model": "m", "messages": dialogue, "stream": True}
    decoded = OLLAMA.request(sent)
    result = decoded.messages[1].parts[0]
    assert isinstance(result, ToolCallResponse)
    assert result.id == "call_1"
    assert OLLAMA.body(decoded) == sent


def test_results_with_ids_are_read_in_any_order() -> None:
    dialogue = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("f", {}, id="call_1"), call("f", {}, id="call_2")],
        },
        {"role": "tool", "content": "2", "tool_name": "f", "tool_call_id": "call_2"},
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_1"},
    ]
    sent = {"model": "m", "messages": dialogue, "stream": True}
    assert OLLAMA.body(OLLAMA.request(sent)) == sent


def test_fields_of_a_result_that_we_have_no_name_for_go_back() -> None:
    result = {"role": "tool", "content": "", "tool_name": "f", "images": ["aGk="], "x": {"y": 1}}
    sent = {"model": "m", "messages": [result], "stream": True}
    assert OLLAMA.body(OLLAMA.request(sent)) == sent


def test_images_are_base64_on_their_message() -> None:
    sent = wire(user("what?", Blob("image", "aGk=", "image/png"), Blob("image", "aG8=")))
    assert sent["messages"] == [{"role": "user", "content": "what?", "images": ["aGk=", "aG8="]}]


@pytest.mark.parametrize(
    "part",
    [
        Uri("image", "https://example.org/a.png"),
        Blob("audio", "aGk="),
        File("image", "f1"),
        Generic("hologram", {"x": 1}),
        Generic("server_tool_use", {"x": 1}, extra={"anthropic": {"type": "server_tool_use"}}),
    ],
)
def test_other_content_is_refused(part: Part) -> None:
    with pytest.raises(UnsupportedContent, match=part.type):
        wire(user("what?", part))


def test_thinking_of_another_provider_is_not_sent() -> None:
    foreign = Reasoning("hm", extra={"anthropic": {"signature": "s"}})
    sent = wire(assistant(foreign, Reasoning("bare"), "hi"))
    assert sent["messages"] == [{"role": "assistant", "content": "hi"}]


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think>\nhm\n</think>\n\nhi"},
        {"content": "hm</think> hi"},
        {"content": "<think>\n\n</think>\n\nhi"},
        {"content": "<think>hm"},
        {"content": "hi", "thinking": "hm </think>"},
        {"content": "a </think> b", "thinking": "hm"},
        {"content": "hi", "reasoning": "hm"},
        {"content": "hi", "hologram": {"x": 1}},
        {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}", "index": 1}}]},
        {"content": "", "tool_calls": [call("f", None, type="function")]},
        {"content": "", "tool_calls": [call("f", '{"a": ')]},
    ],
)
def test_answer_goes_back_as_it_came(message: dict[str, Any]) -> None:
    reply = OLLAMA.reply(body(message))
    assert wire(reply.message)["messages"] == [{"role": "assistant", **message}]


def test_arguments_that_are_no_object_are_sent_in_one() -> None:
    sent = wire(assistant(ToolCall("f", '{"a": ', "x")))
    assert sent["messages"][0]["tool_calls"][0]["function"]["arguments"] == {"arguments": '{"a": '}


def test_part_of_another_providers_answer_is_not_sent() -> None:
    foreign = Generic("server_tool_use", {"x": 1}, extra={"anthropic": {}})
    assert wire(assistant(foreign, "hi"))["messages"] == [{"role": "assistant", "content": "hi"}]


def test_several_answers_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="choice_count"):
        wire(user("hi"), choice_count=2)
    assert "choice_count" not in wire(user("hi"), choice_count=1)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("10.0.0.2:8080", "http://10.0.0.2:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::]:8080", "http://[::1]:8080"),
        ("http://0.0.0.0:11434/", "http://127.0.0.1:11434"),
        ("https://ollama.com", "https://ollama.com"),
        ("box/ollama/", "http://box:11434/ollama"),
    ],
)
def test_address_is_that_of_ollama_host(given: str | None, address: str) -> None:
    assert OLLAMA.address({"OLLAMA_HOST": given}.get) == address


def test_bad_ollama_host_is_named() -> None:
    with pytest.raises(ConfigurationError, match="box:port"):
        OLLAMA.address({"OLLAMA_HOST": "box:port"}.get)


def test_key_is_sent_as_bearer_where_there_is_one() -> None:
    assert "authorization" not in OLLAMA.headers(None)
    assert OLLAMA.headers(Secret("k"))["authorization"] == "Bearer k"


def test_system_message_stands_in_the_dialogue() -> None:
    assert wire(system("be brief"), user("hi"))["messages"][0] == {
        "role": "system",
        "content": "be brief",
    }

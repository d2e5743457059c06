"""What the Anthropic adapter sends, one behaviour a test."""

import json
from typing import Any

import pytest

from loopspan.errors import ConfigurationError, UnsupportedContent
from loopspan.messages import (
    Blob,
    Message,
    Parameters,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    assistant,
    system,
    user,
)
from loopspan.providers.anthropic import Anthropic

ADAPTER = Anthropic()

CACHED = {"anthropic": {"cache_control": {"type": "ephemeral"}}}

TOOL = ToolDefinition("add", "Adds.", {"type": "object"})


def body(*messages: Message, tools: tuple[ToolDefinition, ...] = (), **fields: Any) -> Any:
    return ADAPTER.body(Request("claude", messages, tools, **fields))


def test_plain_request() -> None:
    assert body(system("Be brief."), user("Hi")) == {
        "model": "claude",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }


def test_every_setting_has_its_field() -> None:
    settings = Parameters(
        temperature=0.5,
        top_p=0.9,
        top_k=7,
        max_tokens=10,
        stop_sequences=("###",),
        reasoning_level="low",
        extra={"thinking": {"type": "adaptive"}, "output_config": {"format": {"type": "x"}}},
    )
    sent = body(user("Hi"), parameters=settings, stream=True)
    del sent["messages"]
    assert sent == {
        "model": "claude",
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 7,
        "max_tokens": 10,
        "stop_sequences": ["###"],
        "output_config": {"effort": "low", "format": {"type": "x"}},
        "thinking": {"type": "adaptive"},
        "stream": True,
    }


@pytest.mark.parametrize("name", ["seed", "frequency_penalty", "presence_penalty", "choice_count"])
def test_setting_that_the_api_has_no_field_for_is_refused(name: str) -> None:
    values: dict[str, Any] = {name: 2}
    with pytest.raises(ConfigurationError, match=f"{name} is 2"):
        body(user("Hi"), parameters=Parameters(**values))


def test_own_field_wins_over_what_the_adapter_writes() -> None:
    assert body(user("Hi"), parameters=Parameters(extra={"max_tokens": 0}))["max_tokens"] == 0


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", {"type": "auto"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ("add", {"type": "tool", "name": "add"}),
    ],
)
def test_tool_choice(choice: str, wire: dict[str, str]) -> None:
    sent = body(user("Hi"), tools=(TOOL,), tool_choice=choice)
    assert sent["tool_choice"] == wire
    assert ADAPTER.request(sent).tool_choice == choice


def test_tool_choice_that_says_more_is_kept_whole() -> None:
    wire = {"type": "auto", "disable_parallel_tool_use": True}
    sent = body(user("Hi"), tools=(TOOL,)) | {"tool_choice": wire}
    request = ADAPTER.request(sent)
    assert request.tool_choice == "auto"
    assert ADAPTER.body(request) == sent


def test_without_tools_neither_tools_nor_a_choice_is_sent() -> None:
    settings = Parameters(extra={"tool_choice": {"type": "auto"}})
    sent = body(user("Hi"), tool_choice="auto", parameters=settings)
    assert "tools" not in sent
    assert "tool_choice" not in sent


def test_tools_of_the_client_and_of_the_provider() -> None:
    tools = (
        ToolDefinition("add", "Adds.", {"type": "object"}, extra=CACHED),
        ToolDefinition("now"),
        ToolDefinition(
            "web_search", type="web_search_20250305", extra={"anthropic": {"max_uses": 2}}
        ),
    )
    assert body(user("Hi"), tools=tools)["tools"] == [
        {"name": "add", "description": "Adds.", "input_schema": {"type": "object"}}
        | CACHED["anthropic"],
        {"name": "now", "input_schema": {"type": "object", "properties": {}}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
    ]


def test_toolset_without_a_name_gets_none() -> None:
    sent = body(user("Hi")) | {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}
    assert ADAPTER.body(ADAPTER.request(sent)) == sent


def test_all_leading_system_messages_go_apart_one_block_a_part() -> None:
    sent = body(
        Message("system", (Text("A"), Text("B", extra=CACHED))), system("C"), user("Hi"), tools=()
    )
    assert [block["text"] for block in sent["system"]] == ["A", "B", "C"]
    assert sent["system"][1]["cache_control"] == {"type": "ephemeral"}
    assert [m["role"] for m in sent["messages"]] == ["user"]


def test_later_system_messages_end_the_turn_of_the_user() -> None:
    call = ToolCall("add", {}, "c1")
    result = Message("tool", (ToolCallResponse("3", "c1"),))
    sent = body(
        user("Hi"), assistant(call), system("A"), result, system("B"), user("More"), assistant("Ok")
    )
    assert [m["role"] for m in sent["messages"]] == [
        "user",
        "assistant",
        "user",
        "user",
        "system",
        "assistant",
    ]
    assert [b["text"] for b in sent["messages"][4]["content"]] == ["A", "B"]


def test_last_system_message_is_sent() -> None:
    assert body(user("Hi"), system("A"))["messages"][-1] == {
        "role": "system",
        "content": [{"type": "text", "text": "A"}],
    }


def test_system_message_with_an_image_is_refused() -> None:
    with pytest.raises(UnsupportedContent, match="text only"):
        body(Message("system", (Blob("image", "", "image/png"),)))


def test_results_of_one_round_are_one_user_message() -> None:
    sent = body(
        user("Hi"),
        assistant(ToolCall("add", {"a": 1}, "c1"), ToolCall("add", {}, "c2")),
        Message("tool", (ToolCallResponse("1", "c1"),)),
        Message("tool", (ToolCallResponse({"sum": 2}, "c2", "add", is_error=True),)),
        user("Go on"),
    )
    assert sent["messages"][2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "1"},
                {
                    "type": "tool_result",
                    "tool_use_id": "c2",
                    "content": '{"sum":2}',
                    "is_error": True,
                },
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "Go on"}]},
    ]


def test_messages_are_converted_once_and_never_changed() -> None:
    results = [Message("tool", (ToolCallResponse("1", name),)) for name in ("c1", "c2")]
    dialogue = (user("Hi"), *results)
    first = json.dumps(body(*dialogue))
    again = body(*dialogue)
    assert json.dumps(again) == first
    assert again["messages"][0] is body(*dialogue)["messages"][0]


def test_empty_text_and_empty_messages_are_left_out() -> None:
    sent = body(user("Hi"), assistant(), assistant(""), user("", "You there?"))
    assert [m["content"] for m in sent["messages"]] == [
        [{"type": "text", "text": "Hi"}],
        [{"type": "text", "text": "You there?"}],
    ]

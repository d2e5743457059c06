"""What the local server takes and does not take."""

import pytest

from loopspan import ConfigurationError, Message, Request, ToolCall, ToolCallResponse, user
from loopspan import ToolDefinition as Tool
from loopspan.local import Local

LOOK = Tool("look", "Look.", {"type": "object", "properties": {}})
LISTEN = Tool("listen", "Listen.", {"type": "object", "properties": {}})


def test_a_named_tool_and_the_only_one_there_is_can_be_forced() -> None:
    named = {"type": "function", "function": {"name": "look"}}
    for tools, choice in (((LOOK, LISTEN), "look"), ((LOOK,), "required")):
        body = Local().body(Request("m", (user("Hi"),), tools, tool_choice=choice))
        assert body["tool_choice"] == named


def test_that_any_of_several_tools_is_called_cannot_be_asked_for() -> None:
    request = Request("m", (user("Hi"),), (LOOK, LISTEN), tool_choice="required")
    with pytest.raises(ConfigurationError, match="takes 'auto', 'none' or the name of a tool"):
        Local().body(request)


def test_results_go_as_text_of_the_user_since_the_chat_format_drops_them() -> None:
    messages = (
        user("Hi"),
        Message("assistant", (ToolCall("look", {}, "c1"),)),
        Message("tool", (ToolCallResponse("A cat.", "c1"),)),
    )
    body = Local().body(Request("m", messages, (LOOK,)))
    assert [wire["role"] for wire in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][-1]["content"] == "The tool answered: A cat."
    assert "stream_options" not in Local().body(Request("m", messages, stream=True))

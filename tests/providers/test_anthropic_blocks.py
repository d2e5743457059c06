"""Content blocks of the Anthropic adapter, in both directions."""

from typing import Any

import pytest

from loopspan.errors import UnsupportedContent
from loopspan.messages import (
    Blob,
    File,
    Generic,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    Uri,
    assistant,
)
from loopspan.providers.anthropic import Anthropic

ADAPTER = Anthropic()
CACHED = {"anthropic": {"cache_control": {"type": "ephemeral"}}}


def blocks(*parts: Part, role: str = "user") -> Any:
    return ADAPTER.body(Request("claude", (Message(role, parts),)))["messages"][0]["content"]


def answer(*content: Any, stop: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    return {"id": "msg_1", "model": "claude-1", "content": list(content), "stop_reason": stop} | (
        fields
    )


def test_result_as_blocks_is_read_as_text_and_goes_back_as_blocks() -> None:
    content = [{"type": "text", "text": "40"}, {"type": "text", "text": "C"}]
    block = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    request = ADAPTER.request(
        {"model": "claude", "messages": [{"role": "user", "content": [block]}]}
    )
    (part,) = request.messages[0].parts
    assert isinstance(part, ToolCallResponse)
    assert part.response == "40\nC"
    assert request.messages[0].role == "user"
    assert blocks(part) == [block]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            Blob("image", "aGk=", "image/png"),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
            },
        ),
        (
            Uri("document", "https://example.org/a.pdf", extra=CACHED),
            {
                "type": "document",
                "source": {"type": "url", "url": "https://example.org/a.pdf"},
                "cache_control": {"type": "ephemeral"},
            },
        ),
        (
            File("document", "file_1"),
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
        ),
        (
            Reasoning("Hm.", extra={"anthropic": {"type": "thinking", "signature": "S"}}),
            {"type": "thinking", "thinking": "Hm.", "signature": "S"},
        ),
        (
            Reasoning("", extra={"anthropic": {"type": "thinking", "signature": "S"}}),
            {"type": "thinking", "thinking": "", "signature": "S"},
        ),
        (
            Reasoning("", extra={"anthropic": {"type": "redacted_thinking", "data": "D"}}),
            {"type": "redacted_thinking", "data": "D"},
        ),
        (
            ToolCall("add", {"a": 1}, "c1", extra={"anthropic": {"caller": {"type": "direct"}}}),
            {
                "type": "tool_use",
                "id": "c1",
                "name": "add",
                "input": {"a": 1},
                "caller": {"type": "direct"},
            },
        ),
        (
            ToolCall("add", '{"a": ', "c1"),
            {"type": "tool_use", "id": "c1", "name": "add", "input": {"INVALID_JSON": '{"a": '}},
        ),
        (
            Generic(
                "image",
                {"type": "image", "source": {"type": "url", "url": "data:,x"}},
                extra={"anthropic": {"type": "image"}},
            ),
            {"type": "image", "source": {"type": "url", "url": "data:,x"}},
        ),
        (
            Generic(
                "server_tool_use",
                {"type": "server_tool_use", "id": "s1"},
                extra={"anthropic": {"type": "server_tool_use"}},
            ),
            {"type": "server_tool_use", "id": "s1"},
        ),
    ],
)
def test_part_and_its_block(part: Part, block: dict[str, Any]) -> None:
    assert blocks(part) == [block]
    assert ADAPTER.reply(answer(block)).message.parts == (part,)


@pytest.mark.parametrize(
    "part",
    [
        Blob("audio", "aGk=", "audio/wav"),
        Blob("image", "aGk="),
        Uri("video", "https://example.org/a.mp4"),
        ToolCall("add", {}),
        ToolCallResponse("3"),
        Generic("input_audio", {"type": "input_audio"}, extra={"openai": {"x": 1}}),
        Generic("hologram", 7),
    ],
    ids=repr,
)
def test_part_that_the_api_cannot_take_is_refused(part: Part) -> None:
    with pytest.raises(UnsupportedContent):
        blocks(part)


def test_what_another_provider_wrote_is_not_sent() -> None:
    foreign = {"openai": {"encrypted": "x"}}
    message = assistant(
        Reasoning("Hm.", extra=foreign),
        Text("Hi", extra=foreign),
        ToolCall("add", {}, "c1", extra=foreign),
        Generic("web_search_call", {"type": "web_search_call"}, extra=foreign),
    )
    assert blocks(*message.parts, role="assistant") == [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "c1", "name": "add", "input": {}},
    ]


@pytest.mark.parametrize("value", ["", None, "absent", {}])
def test_call_without_arguments_has_an_empty_object(value: Any) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "now", "input": value}
    if value == "absent":
        del block["input"]
    assert ADAPTER.reply(answer(block)).message.tool_calls[0].arguments == {}


def test_tools_that_the_provider_runs_are_no_calls_of_the_client() -> None:
    reply = ADAPTER.reply(
        answer(
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "text", "text": "Found."},
            stop="pause_turn",
        )
    )
    assert reply.message.tool_calls == ()
    assert [part.type for part in reply.message.parts] == [
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]
    assert (reply.finish_reason, reply.finish_reason_raw) == ("pause_turn", "pause_turn")


def test_as_06_unknown_block_stays_in_its_place_with_its_body() -> None:
    hologram = {"type": "hologram", "x": 1}
    reply = ADAPTER.reply(
        answer({"type": "text", "text": "A"}, hologram, {"type": "text", "text": "B"})
    )
    assert reply.message.text == "AB"
    part = reply.message.parts[1]
    assert isinstance(part, Generic)
    assert (part.type, part.body) == ("hologram", hologram)
    assert blocks(*reply.message.parts)[1] == hologram

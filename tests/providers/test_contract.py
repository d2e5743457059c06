"""One conversation through all adapters: what is sent, and what comes back, is the same."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from loopspan import Blob, Message, Request, Text, ToolCall, ToolCallResponse, system, user
from loopspan.jsontext import load
from loopspan.messages import Reasoning
from loopspan.providers.connect import adapter
from tests.providers.support import FEATURES, PAGE, PNG, PROVIDERS, TOOL, page

ARGUMENTS = ({"city": "Oslo"}, {"city": "Rome"})

# The same answer of each provider: thinking, a text, two calls side by side; and a later answer.
CHAT = {
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {
                        "id": f"call_{i}",
                        "type": "function",
                        "function": {"name": "look", "arguments": json.dumps(arguments)},
                    }
                    for i, arguments in enumerate(ARGUMENTS)
                ],
            },
        }
    ],
}


def chat(**message: Any) -> dict[str, Any]:
    body = json.loads(json.dumps(CHAT))
    body["choices"][0]["message"] |= message
    answer: dict[str, Any] = body
    return answer


REPLIES: dict[str, dict[str, Any]] = {
    "openai": chat(reasoning_content="Two cities."),
    "groq": chat(reasoning="Two cities."),
    "openrouter": chat(
        reasoning="Two cities.",
        reasoning_details=[{"type": "reasoning.text", "text": "Two cities.", "signature": "s"}],
    ),
    "mistral": chat(
        content=[
            {"type": "thinking", "thinking": [{"type": "text", "text": "Two cities."}]},
            {"type": "text", "text": "Let me look."},
        ]
    ),
    "openai-responses": {
        "id": "resp_1",
        "status": "completed",
        "output": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Two cities."}],
                "encrypted_content": "e",
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
            },
            *(
                {
                    "type": "function_call",
                    "id": f"fc_{i}",
                    "call_id": f"call_{i}",
                    "name": "look",
                    "arguments": json.dumps(arguments),
                }
                for i, arguments in enumerate(ARGUMENTS)
            ),
        ],
    },
    "anthropic": {
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Two cities.", "signature": "s"},
            {"type": "text", "text": "Let me look."},
            *(
                {"type": "tool_use", "id": f"call_{i}", "name": "look", "input": arguments}
                for i, arguments in enumerate(ARGUMENTS)
            ),
        ],
    },
    "gemini": {
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Two cities.", "thought": True},
                        {"text": "Let me look.", "thoughtSignature": "s"},
                        *(
                            {"functionCall": {"id": f"call_{i}", "name": "look", "args": a}}
                            for i, a in enumerate(ARGUMENTS)
                        ),
                    ],
                },
            }
        ]
    },
    "ollama": {
        "done": True,
        "done_reason": "stop",
        "message": {
            "role": "assistant",
            "thinking": "Two cities.",
            "content": "Let me look.",
            "tool_calls": [
                {"id": f"call_{i}", "function": {"name": "look", "arguments": arguments}}
                for i, arguments in enumerate(ARGUMENTS)
            ],
        },
    },
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_answer_is_the_same_message_from_every_provider(provider: str) -> None:
    reply = adapter(provider).reply(REPLIES[provider])

    assert reply.finish_reason == "tool_call"
    assert [flat(part) for part in reply.message.parts] == [
        ("reasoning", "Two cities."),
        ("text", "Let me look."),
        ("call", "look", ARGUMENTS[0]),
        ("call", "look", ARGUMENTS[1]),
    ]
    ids = [call.id for call in reply.message.tool_calls]
    assert ids == ["call_0", "call_1"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_conversation_is_read_back_as_it_was_sent(provider: str) -> None:
    """System, user with image, parallel calls with thinking, one failed tool, answer."""
    found = adapter(provider)
    asked = found.reply(REPLIES[provider]).message
    first, second = asked.tool_calls
    request = Request(
        "m",
        (
            system("Be kind."),
            user("Where is it warmer?", Blob("image", PNG, "image/png")),
            asked,
            Message("tool", (ToolCallResponse("14 degrees", first.id, "look"),)),
            Message("tool", (ToolCallResponse("Error: no", second.id, "look", True),)),
            Message("assistant", (Text("In Oslo, I think."),)),
            user("Thank you."),
        ),
        (TOOL,),
    )

    body = json.loads(json.dumps(found.body(request)))
    read = found.request(body, found.url(found.base_url, request))

    told = [entry for entry in entries(read.messages) if entry[0] != "reasoning"]
    marked = FEATURES["failed tools are marked"](found)
    assert told == [
        ("text", "Be kind."),
        ("text", "Where is it warmer?"),
        ("image", "image/png", PNG),
        ("text", "Let me look."),
        ("call", "look", ARGUMENTS[0]),
        ("call", "look", ARGUMENTS[1]),
        ("result", "14 degrees", False),
        ("result", "Error: no", marked),
        ("text", "In Oslo, I think."),
        ("text", "Thank you."),
    ]
    assert found.body(read) == body


@pytest.mark.parametrize("provider", PROVIDERS)
def test_thinking_of_another_provider_is_never_sent_as_thinking(provider: str) -> None:
    found = adapter(provider)
    others = [name for name in PROVIDERS if name != provider]
    for other in others:
        asked = adapter(other).reply(REPLIES[other]).message
        body = json.dumps(found.body(Request("m", (user("Hi"), asked))))
        assert "Two cities." not in body
        assert '"signature"' not in body
        assert "encrypted_content" not in body.replace('"reasoning.encrypted_content"', "")


def test_page_shows_what_the_adapters_answer() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.providers.support`"


def entries(messages: tuple[Message, ...]) -> Iterator[tuple[Any, ...]]:
    """A dialogue without what providers put differently: who groups what into which message."""
    for message in messages:
        yield from (flat(part) for part in message.parts)


def flat(part: object) -> tuple[Any, ...]:
    match part:
        case Reasoning(content=content):
            return ("reasoning", content)
        case Text(content=content):
            return ("text", content)
        case Blob(content=content, mime_type=mime_type, modality=modality):
            return (modality, mime_type or "image/png", content)
        case ToolCall(name=name, arguments=arguments):
            return ("call", name, arguments)
        case ToolCallResponse(response=response, is_error=is_error):
            return ("result", response, bool(is_error))
        case _:
            return ("other", load(json.dumps(part, default=repr)))

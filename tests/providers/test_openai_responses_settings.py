"""Requests of the Responses adapter: settings, tools, addresses."""

from typing import Any

import pytest

from loopspan.errors import (
    ConfigurationError,
)
from loopspan.messages import (
    Request,
    ToolDefinition,
    user,
)
from loopspan.secrets import Secret
from tests.providers.test_openai_responses import ADAPTER, Wire, sent


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

"""Requests of the chat-completions family, in both directions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.errors import BadResponse
from loopspan.jsontext import dump
from loopspan.messages import Parameters, ToolDefinition, user
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.mistral import Mistral
from loopspan.providers.openai import OpenAI
from loopspan.secrets import Secret
from tests.corpus import Exchange, exchange, exchanges, recorded
from tests.providers import chat

DIFFERENCES = {
    "stream": "`stream: false` is the default and left out",
    "stream_options": "usage is asked for in every stream",
    "content": "an empty `content` (null or no part) beside calls is left out",
    "type": "a Mistral client left out the type of a tool, which is `function`",
}
"""In what a request that is read and written again may differ, and why."""


def normal(body: dict[str, Any]) -> dict[str, Any]:
    """The body as we write it; each line is an entry of `DIFFERENCES`."""
    result = {k: v for k, v in body.items() if (k, v) != ("stream", False)}
    if body.get("stream"):
        result.setdefault("stream_options", {"include_usage": True})
    result["messages"] = [
        {k: v for k, v in message.items() if not ("tool_calls" in message and _empty(k, v))}
        for message in body["messages"]
    ]
    if "tools" in body:
        result["tools"] = [{"type": "function", **tool} for tool in body["tools"]]
    return result


def _empty(key: str, value: Any) -> bool:
    return key == "content" and value in (None, [])


def changed(before: Any, after: Any, key: str = "") -> set[str]:
    """The names of the fields in which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = before.keys() | after.keys()
        return {k for name in keys for k in changed(before.get(name), after.get(name), name)}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return {k for a, b in zip(before, after, strict=True) for k in changed(a, b, key)}
    return set() if before == after else {key}


def test_the_table_of_differences_is_no_wider_than_it_must_be() -> None:
    exchange("openai/llm-tool-use-chain-of-two-calls.json#0")  # skips where nothing is recorded
    requests = [e.request for f in chat.FOLDERS for e in exchanges(f) if chat.is_chat(e)]
    found = {key for body in requests if body for key in changed(body, normal(body))}
    assert found == DIFFERENCES.keys()


@recorded(*chat.FOLDERS, where=lambda e: chat.is_chat(e) and e.request is not None)
def test_a_recorded_request_is_read_and_written_again(exchange: Exchange) -> None:
    adapter = chat.adapter_of(exchange)
    expected = normal(exchange.request)
    if not adapter.takes_stream_options:
        expected.pop("stream_options", None)
    assert adapter.body(adapter.request(exchange.request, exchange.url)) == expected


@chat.each_adapter
@given(st.data())
def test_a_request_is_written_and_read_again(adapter: ChatCompletions, data: st.DataObject) -> None:
    request = data.draw(chat.requests(adapter))
    assert adapter.request(adapter.body(request)) == request


@chat.each_adapter
@given(st.data())
def test_a_request_is_not_changed_by_writing_it(
    adapter: ChatCompletions, data: st.DataObject
) -> None:
    request = data.draw(chat.requests(adapter))
    first = dump(adapter.body(request))
    assert dump(adapter.body(request)) == first


@chat.each_adapter
@given(st.data())
def test_messages_are_written_once(adapter: ChatCompletions, data: st.DataObject) -> None:
    request = data.draw(chat.requests(adapter))
    first, second = adapter.body(request)["messages"], adapter.body(request)["messages"]
    assert all(a is b for a, b in zip(first, second, strict=True))


# Where it goes


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://h/v1", "https://h/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/d/x?api-version=1", "https://h/d/x/chat/completions?api-version=1"),
        ("https://h/d/chat/completions?v=1", "https://h/d/chat/completions?v=1"),
    ],
)
def test_the_address_keeps_path_and_query_of_the_base_url(base_url: str, url: str) -> None:
    assert OpenAI().url(base_url, chat.ask(user("?"))) == url


@chat.each_adapter
def test_the_key_is_sent_where_there_is_one(adapter: ChatCompletions) -> None:
    assert adapter.headers(Secret("k"))["authorization"] == "Bearer k"
    assert "authorization" not in adapter.headers(None)
    assert "authorization" not in adapter.headers(Secret(""))


def test_azure_names_the_model_in_the_address() -> None:
    url = "https://h/openai/deployments/mine/chat/completions?api-version=1"
    assert OpenAI().request({"messages": []}, url).model == "mine"


def test_a_request_without_a_model_is_none() -> None:
    with pytest.raises(BadResponse):
        OpenAI().request({"messages": []}, "https://h/v1/chat/completions")


# Settings


def test_settings_have_the_names_of_the_wire() -> None:
    settings = Parameters(
        temperature=0.5, max_tokens=9, stop_sequences=("a", "b"), seed=1, choice_count=2
    )
    body = Mistral().body(chat.ask(user("?"), parameters=settings))
    del body["model"], body["messages"]
    assert body == {
        "temperature": 0.5,
        "max_tokens": 9,
        "stop": ["a", "b"],
        "random_seed": 1,
        "n": 2,
    }


@pytest.mark.parametrize(
    ("field", "raw", "setting", "value"),
    [
        ("stop", "a", "stop_sequences", ("a",)),
        ("max_tokens", 5, "max_tokens", 5),
        ("temperature", None, "temperature", None),
        ("temperature", "hot", "temperature", None),
        ("n", True, "choice_count", None),
        ("stop", [1], "stop_sequences", None),
    ],
)
def test_a_setting_of_another_form_is_read_and_goes_back_as_it_came(
    field: str, raw: Any, setting: str, value: Any
) -> None:
    body = {"model": "m1", "messages": [], field: raw}
    request = OpenAI().request(body)
    assert getattr(request.parameters, setting) == value
    assert OpenAI().body(request) == body


def test_fields_of_the_providers_own_win() -> None:
    settings = Parameters(temperature=0.5, max_tokens=5, extra={"temperature": 1, "max_tokens": 7})
    body = OpenAI().body(chat.ask(user("?"), parameters=settings))
    assert (body["temperature"], body["max_tokens"]) == (1, 7)
    assert "max_completion_tokens" not in body


@chat.each_adapter
def test_tk01_stream_usage_is_asked_for_where_the_field_is_known(adapter: ChatCompletions) -> None:
    body = adapter.body(chat.ask(user("?"), stream=True))
    asked = None if adapter.name == "mistral" else {"include_usage": True}
    assert (body["stream"], body.get("stream_options")) == (True, asked)


@chat.each_adapter
def test_tk01_nothing_is_asked_for_without_a_stream(adapter: ChatCompletions) -> None:
    settings = chat.with_extra(stream_options={"include_obfuscation": False})
    body = adapter.body(chat.ask(user("?"), parameters=settings))
    assert body.keys() == {"model", "messages"}


def test_further_stream_options_are_kept() -> None:
    settings = chat.with_extra(stream_options={"include_obfuscation": False})
    request = chat.ask(user("?"), parameters=settings, stream=True)
    options = {"include_usage": True, "include_obfuscation": False}
    assert OpenAI().body(request)["stream_options"] == options
    assert OpenAI().request(OpenAI().body(request)) == request


# Tools

FIND = ToolDefinition("find", "Find it.", {"type": "object"})


@chat.each_adapter
def test_without_tools_nothing_speaks_of_them(adapter: ChatCompletions) -> None:
    settings = chat.with_extra(parallel_tool_calls=False, tool_choice="auto")
    body = adapter.body(chat.ask(user("?"), tool_choice="required", parameters=settings))
    assert body.keys() == {"model", "messages"}


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_a_tool_choice_is_written(choice: str) -> None:
    body = OpenAI().body(chat.ask(user("?"), tools=(FIND,), tool_choice=choice))
    assert body["tool_choice"] == choice


def test_a_tool_is_chosen_by_its_name() -> None:
    body = OpenAI().body(chat.ask(user("?"), tools=(FIND,), tool_choice="find"))
    assert body["tool_choice"] == {"type": "function", "function": {"name": "find"}}


def test_a_tool_choice_without_a_name_of_ours_goes_back_as_it_came() -> None:
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    body = {**OpenAI().body(chat.ask(user("?"), tools=(FIND,))), "tool_choice": choice}
    request = OpenAI().request(body)
    assert request.tool_choice is None
    assert OpenAI().body(request) == body


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}},
        {"type": "function", "function": {"name": "f", "description": None}},
        {"type": "function", "function": {"name": "f"}, "cache_control": {"type": "ephemeral"}},
        {"type": "custom", "custom": {"name": "f", "format": {"type": "text"}}},
        {"type": "browser_search"},
        {"type": "web", "name": "w", "parameters": {"max": 3}, "engine": "x"},
    ],
)
def test_tools_of_each_form_go_back_as_they_came(tool: dict[str, Any]) -> None:
    body = {"model": "m1", "messages": [], "tools": [tool]}
    assert OpenAI().body(OpenAI().request(body)) == body


def test_a_custom_tool_is_chosen_as_such() -> None:
    tool = ToolDefinition("sql", type="custom")
    body = OpenAI().body(chat.ask(user("?"), tools=(tool,), tool_choice="sql"))
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "sql"}}


def test_a_tool_that_the_provider_runs_is_known_by_its_type() -> None:
    (tool,) = OpenAI().request({"model": "m", "messages": [], "tools": [{"type": "web"}]}).tools
    assert (tool.type, tool.name) == ("web", "web")

"""The demo model's answers in the form of the API: cut, counted, streamed."""

import json
from typing import Any

import pytest

from loopspan.demo.completions import chunks
from loopspan.demo.words import count, cut
from loopspan.providers.adapter import StreamState
from loopspan.providers.chat_stream import add
from tests.demo.asking import JSON, calls, complete, function, result, user

TEXT = {"type": "string"}
ADD = function("add", "Add numbers.", a={"type": "number"}, b={"type": "number"})
SEARCH = function("search", "Search the web.", query=TEXT)
PROMPTS = ["Hello", "Think: hello", "Think: add 1 and 2, and search for «Ölbäume»", "refuse"]


def message(body: JSON) -> JSON:
    found: JSON = body["choices"][0]["message"]
    return found


def test_answer_has_the_form_of_the_api() -> None:
    body = complete("Hello")
    [choice] = body.pop("choices")
    assert choice.pop("message").pop("content").startswith("This is demo-1")
    assert choice == {"index": 0, "logprobs": None, "finish_reason": "stop"}
    assert body.pop("id").startswith("chatcmpl-")
    used = body.pop("usage")
    assert used.keys() > {"prompt_tokens", "completion_tokens", "total_tokens", "cost"}
    assert body == {
        "object": "chat.completion",
        "created": 0,
        "model": "demo-1",
        "system_fingerprint": "demo",
    }


def test_calls_have_the_form_of_the_api() -> None:
    body = complete("Add 1 and 2.5, and search for cats", ADD, SEARCH)
    asked = message(body)["tool_calls"]
    assert [call["function"] for call in asked] == [
        {"name": "add", "arguments": '{"a":1,"b":2.5}'},
        {"name": "search", "arguments": '{"query":"cats"}'},
    ]
    assert message(body)["content"] is None
    assert len({call["id"] for call in asked}) == 2
    assert body["choices"][0]["finish_reason"] == "tool_calls"


def test_same_request_gives_the_same_answer() -> None:
    assert complete("Add 1 and 2", ADD) == complete("Add 1 and 2", ADD)
    assert complete("Add 1 and 2", ADD)["id"] != complete("Add 1 and 3", ADD)["id"]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_text_is_cut_at_the_limit(name: str) -> None:
    whole, body = complete("Hello"), complete("Hello", **{name: 4})
    text = message(body)["content"]
    assert text
    assert message(whole)["content"].startswith(text)
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == count(text) == 4


def test_exactly_enough_is_not_cut() -> None:
    used = complete("Hello")["usage"]["completion_tokens"]
    assert complete("Hello", max_tokens=used)["choices"][0]["finish_reason"] == "stop"


def test_call_is_cut_in_its_arguments() -> None:
    body = complete("Add 1 and 2, and search for cats", ADD, SEARCH, max_tokens=3)
    [call] = message(body)["tool_calls"]
    assert call["function"] == {"name": "add", "arguments": '{"'}
    assert body["choices"][0]["finish_reason"] == "length"


def test_thinking_is_cut_first() -> None:
    body = complete("Think: add 1 and 2", ADD, max_tokens=3)
    assert "tool_calls" not in message(body)
    assert body["usage"]["completion_tokens_details"] == {"reasoning_tokens": 3}


def test_prompt_grows_and_its_start_is_cached() -> None:
    dialogue = [user("Add 1 and 2")]
    first = complete(dialogue, ADD)["usage"]
    dialogue += [calls(("add", {"a": 1, "b": 2}, "x")), result("x", "3")]
    second = complete(dialogue, ADD)["usage"]
    assert first["prompt_tokens_details"] == {"cached_tokens": 0}
    assert second["prompt_tokens_details"] == {"cached_tokens": first["prompt_tokens"]}
    assert second["prompt_tokens"] > first["prompt_tokens"]
    for used in (first, second):
        assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"]
        assert used["cost"] == 0.0


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("hello", 1), ("hello, world!", 4), ("wonderful", 2)]
)
def test_tokens_are_counted(text: str, tokens: int) -> None:
    assert count(text) == tokens
    assert cut(text, tokens) == text
    assert tokens == 0 or count(cut(text, tokens - 1)) == tokens - 1


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("limit", [None, 5])
def test_stream_comes_to_the_whole_answer(prompt: str, limit: int | None) -> None:
    limits: dict[str, Any] = {} if limit is None else {"max_tokens": limit}
    body = complete(prompt, ADD, SEARCH, **limits)
    state = StreamState()
    for chunk in chunks(body, include_usage=True):
        list(add(state, json.loads(json.dumps(chunk)), ("reasoning",)))
    [got], [expected] = state.body["choices"], body["choices"]
    said = {k: v for k, v in expected["message"].items() if v is not None}
    for number, call in enumerate(said.get("tool_calls", ())):
        call["index"] = number
    assert {k: v for k, v in got["message"].items() if v is not None} == said
    assert got["finish_reason"] == expected["finish_reason"]
    assert state.body["usage"] == body["usage"]


def test_stream_brings_small_pieces_and_usage_only_if_asked() -> None:
    body = complete("Hello")
    with_usage = list(chunks(body, include_usage=True))
    assert with_usage[-1]["choices"] == []
    assert with_usage[-1]["usage"] == body["usage"]
    assert {chunk["usage"] for chunk in with_usage[:-1]} == {None}
    without = list(chunks(body, include_usage=False))
    assert all("usage" not in chunk for chunk in without)
    deltas = [chunk["choices"][0]["delta"].get("content") or "" for chunk in without]
    assert "".join(deltas) == message(body)["content"]
    assert max(map(len, deltas)) <= 6

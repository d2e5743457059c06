"""Tokens of a request, shared among its parts: estimates that add up to what was reported."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loopspan.playground.context import share, shares
from loopspan.testing import calls, message
from tests.playground.served import client, ended, run_async, served


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**6), max_size=20))
def test_shares_add_up_and_are_fair(total: int, sizes: list[int]) -> None:
    found = shares(total, sizes)
    whole = sum(sizes)
    assert sum(found) == (total if whole else 0)
    for size, part in zip(sizes, found, strict=True):
        assert abs(part * whole - total * size) < max(whole, 1)


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_neighbouring_shares_add_up(total: int, sizes: list[int]) -> None:
    whole, at, found = sum(sizes), 0, []
    for size in sizes:
        found.append(share(total, at, at + size, whole))
        at += size
    assert sum(found) == (total if whole else 0)


def shown(*answers: Any, **asked: Any) -> dict[str, Any]:
    async def story() -> dict[str, Any]:
        s = served(*answers)
        async with client(s.app) as http:
            found = await ended(s.app, http, **asked)
            run_id = found["run"]["run_id"]
            path = f"/api/runs/{run_id}/rounds/1/messages"
            later = (await http.get(path.replace("/1/", "/2/"))).json()
            return {**found, "messages": (await http.get(path)).json(), "later": later}

    return run_async(story())


def test_parts_of_the_context_add_up_to_the_tokens_that_were_reported() -> None:
    usage = {"prompt_tokens": 1234, "completion_tokens": 5}
    found = shown(message("Hello", usage=usage))
    request = found["steps"][0]
    context = request["context"]
    assert (context["used"], context["used_source"]) == (1234, "reported")
    assert sum(part["tokens"] for part in context["parts"]) == 1234
    kinds = [part["type"] for part in context["parts"]]
    assert kinds == ["system", "snippet", "guard", "skill", "user", "tool_definitions"]
    messages = sum(ref["tokens"] for ref in found["messages"]["items"])
    assert messages + sum(tool["tokens"] for tool in request["tools"]) == 1234


def test_without_a_count_the_tokens_are_estimated_and_say_so() -> None:
    found = shown(message("Hello", usage={}))
    request, chat = found["steps"]
    whole = request["messages"]["bytes"] + sum(tool["bytes"] for tool in request["tools"])
    assert request["context"]["used"] == round(whole / 4)
    assert request["context"]["used_source"] == "estimated"
    assert chat["usage"]["input_tokens"] is None
    assert {"field": "usage.input_tokens", "why": "not_reported"} in chat["missing"]


def test_delta_of_a_round_tells_what_it_added_and_its_tokens() -> None:
    one = {"prompt_tokens": 1000, "completion_tokens": 5}
    two = {"prompt_tokens": 1100, "completion_tokens": 5}
    call = calls("add", id="call_7", a=1, b=2)
    found = shown({**call, "usage": one}, message("3", usage=two))
    first, chat, tool, second, _ = found["steps"]
    assert first["delta"]["base_round"] is None
    assert len(first["delta"]["add"]) == first["messages"]["count"] == 3
    delta = second["delta"]
    assert (delta["base_round"], delta["keep"], delta["drop"], delta["edit"]) == (
        1,
        [[0, 3]],
        [],
        [],
    )
    added = [(each["at"], each["message"]["role"]) for each in delta["add"]]
    assert added == [(3, "assistant"), (4, "tool")]
    assert delta["add"][0]["message"]["h"] == chat["content"]["h"]
    assert delta["add"][1]["message"]["tool_call_id"] == tool["tool_call_id"] == "call_7"
    assert (delta["tokens"], delta["tokens_source"]) == (100, "reported")
    assert delta["prefix_break"] is None
    context = second["context"]
    messages = sum(p["bytes"] for p in context["parts"] if p["type"] != "tool_definitions")
    assert messages == second["messages"]["bytes"]
    assert {"system", "model", "tool"} <= {part["type"] for part in context["parts"]}
    listed = found["later"]["items"]
    assert [each["message"] for each in delta["add"]] == listed[3:]
    tools = sum(each["tokens"] for each in second["tools"])
    assert sum(ref["tokens"] for ref in listed) + tools == 1100


def test_origins_name_each_stretch_of_a_message() -> None:
    found = shown("Hello", prompt="1 + 2?")
    system, snippet, user = found["messages"]["items"]
    assert [o["type"] for o in system["origins"]] == ["system"]
    assert [(o["type"], o["id"]) for o in snippet["origins"]] == [("snippet", "hours")]
    kinds = [o["type"] for o in user["origins"]]
    assert kinds == ["guard", "skill", "guard", "user"]
    ends = [o["end"] for o in user["origins"]]
    assert [o["start"] for o in user["origins"]] == [0, *ends[:-1]]
    assert ends[-1] == user["bytes"]
    assert user["origins"][-1]["end"] - user["origins"][-1]["start"] == len("1 + 2?")

"""Runs over the API: started, shown by reference, and the same again in full."""

from typing import Any

import httpx
import pytest

from loopspan.testing import calls
from tests.playground.served import client, ended, run_async, served


def test_run_that_was_started_is_there_with_its_steps() -> None:
    async def story() -> None:
        s = served(calls("add", a=1, b=2), "3")
        async with client(s.app) as http:
            shown = await ended(s.app, http, capture_raw=True)
            run, steps = shown["run"], shown["steps"]
            assert (run["outcome"], run["rounds"], run["tool_calls"]) == ("completed", 2, 1)
            assert run["title"] == "1 + 2?"
            assert [step["n"] for step in steps] == [1, 2, 3, 4, 5]
            kinds = [step["kind"] for step in steps]
            assert kinds == ["request", "chat", "tool", "request", "chat"]
            listed = (await http.get("/api/runs")).json()
            assert [each["run_id"] for each in listed["items"]] == [run["run_id"]]

    run_async(story())


def test_pg_05_invalid_settings_leave_a_run_with_an_error_step() -> None:
    """PG-05: the provider is not called."""

    async def story() -> None:
        s = served()
        async with client(s.app) as http:
            value = {"configuration": "helper", "prompt": "Hello", "max_rounds": 0}
            answer = await http.post("/api/runs", json=value)
            assert answer.status_code == 422
            told = answer.json()
            assert "max_rounds is 0" in told["error"]["message"]
            run_id = told["runs"][0]["run_id"]
            shown = (await http.get(f"/api/runs/{run_id}")).json()
            assert shown["run"]["outcome"] == "error"
            [step] = shown["steps"]
            assert (step["kind"], step["error"]["type"]) == ("error", "ConfigurationError")
            assert "max_rounds is 0" in step["error"]["message"]
        assert s.model.requests == []

    run_async(story())


def test_pg_05_what_only_the_loop_refuses_leaves_a_run_with_an_error_step_too() -> None:
    """Raw bodies of a run with a tool that must not be recorded."""

    async def story() -> None:
        s = served(unrecorded_tools=("add",))
        async with client(s.app) as http:
            value = {"configuration": "helper", "prompt": "Hello", "capture_raw": True}
            answer = await http.post("/api/runs", json={**value, "idempotency_key": "k1"})
            assert answer.status_code == 422
            told = answer.json()
            assert "the tools ['add'] must not be recorded" in told["error"]["message"]
            shown = (await http.get(f"/api/runs/{told['runs'][0]['run_id']}")).json()
            assert [step["kind"] for step in shown["steps"]] == ["error"]
        assert s.model.requests == []

    run_async(story())


def test_pg_05_provider_that_fails_at_once_leaves_a_run_with_an_error_step() -> None:
    async def story() -> None:
        s = served(httpx.Response(400, json={"error": {"message": "no such model"}}))
        async with client(s.app) as http:
            shown = await ended(s.app, http)
            assert shown["run"]["outcome"] == "error"
            assert [step["state"] for step in shown["steps"]] == ["ok", "error"]
            assert shown["steps"][1]["error"]["status"] == 400

    run_async(story())


@pytest.mark.parametrize(
    ("tools", "offered"), [([], None), (["add"], ["add"]), (None, ["add", "reset", "fail"])]
)
def test_pg_08_list_of_tools_is_what_is_offered(tools: Any, offered: Any) -> None:
    """PG-08, R11: nothing ticked means nothing."""

    async def story() -> None:
        s = served("Hello")
        async with client(s.app) as http:
            await ended(s.app, http, tools=tools)
        [sent] = s.model.requests
        names = [t["function"]["name"] for t in sent["tools"]] if "tools" in sent else None
        assert names == offered

    run_async(story())


def test_pg_08_each_switch_reaches_the_request() -> None:
    """PG-08: system, limits, temperature and raw capture."""

    async def story() -> None:
        s = served("Hello")
        async with client(s.app) as http:
            shown = await ended(
                s.app,
                http,
                system="Be brief.",
                max_rounds=2,
                max_tokens=50,
                temperature=0.5,
                thinking="on",
                capture_raw=True,
            )
        [sent] = s.model.requests
        assert sent["messages"][0] == {"role": "system", "content": "Be brief."}
        assert (sent["max_completion_tokens"], sent["temperature"]) == (50, 0.5)
        assert sent["reasoning_effort"] == "medium"
        assert shown["run"]["max_rounds"] == 2
        assert shown["steps"][1]["raw"]["request"]["bytes"] == len(s.model.wire[0])

    run_async(story())

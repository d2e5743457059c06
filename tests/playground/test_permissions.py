"""Without the permission `content`, nothing that anybody wrote comes out of any endpoint."""

from typing import Any

import httpx
import pytest

from loopspan.playground import Principal
from loopspan.playground.guard import Endpoint
from loopspan.testing import calls, message
from tests.playground.served import Served, client, ended, run_async, served
from tests.playground.streams import listening, position
from tests.playground.test_stream import steps_of

SENTINELS = ("SNTprompt", "SNTsystem", "SNTargument", "SNTanswer", "SNTthought", "SNTerror")
VIEWER = Principal("viewer", frozenset({"view", "run", "live_tools"}))


def written() -> Served:
    return served(
        calls("add", a="SNTargument", b=2),
        message("SNTanswer", reasoning_content="SNTthought"),
        httpx.Response(400, json={"error": {"message": "SNTerror"}}),
        principal=VIEWER,
        system_prompt="SNTsystem",
    )


async def filled(s: Served, http: httpx.AsyncClient) -> list[Any]:
    """Let two runs end, one of them with an error."""
    asked = {"prompt": "SNTprompt", "capture_raw": True}
    return [await ended(s.app, http, **asked), await ended(s.app, http, **asked)]


def test_run_holds_every_sentinel_for_those_who_may_see_it() -> None:
    """The other tests are not vacuous."""

    async def story() -> None:
        s = served(
            calls("add", a="SNTargument", b=2),
            message("SNTanswer", reasoning_content="SNTthought"),
            httpx.Response(400, json={"error": {"message": "SNTerror"}}),
            system_prompt="SNTsystem",
        )
        async with client(s.app) as http:
            shown = [await ended(s.app, http, prompt="SNTprompt") for _ in range(2)]
        assert [each for each in SENTINELS if each not in str(shown)] == []

    run_async(story())


def test_no_sentinel_comes_out_of_any_endpoint() -> None:
    async def story() -> None:
        s = written()
        async with client(s.app) as http:
            runs = await filled(s, http)
            asked = 0
            for route in s.app.routes:
                assert isinstance(route, Endpoint)
                if "GET" not in (route.methods or ()) or route.path == "/api/stream":
                    continue
                for path in paths(route.path, runs):
                    answer = await http.get(path)
                    asked += 1
                    assert "SNT" not in answer.text, path
                    assert "SNT" not in str(answer.headers), path
            assert asked > 40
            run_id = runs[0]["run"]["run_id"]
            changed = await http.patch(f"/api/runs/{run_id}", json={"pinned": True})
            assert changed.status_code == 200
            assert "SNT" not in changed.text
            found = (await http.get("/api/runs?q=SNTprompt")).json()
            assert found["items"] == []

    run_async(story())


def paths(path: str, runs: list[Any]) -> list[str]:
    """Return every address of a route: each run, round, step and body that there is."""
    found = []
    for run in runs:
        filled = path.replace("{id}", run["run"]["run_id"]).replace("{path:path}", "x.js")
        for step in run["steps"]:
            found.append(filled.replace("{n}", str(step["n"])).replace("{k}", "1"))
            other = filled.replace("{n}", "1").replace("{k}", "2")
            found.extend(other.replace("{h}", h) for h in hashes(step))
    return list(dict.fromkeys(found))


def hashes(value: Any) -> list[str]:
    match value:
        case dict():
            own = [value["h"]] if isinstance(value.get("h"), str) else []
            return own + [h for each in value.values() for h in hashes(each)]
        case list():
            return [h for each in value for h in hashes(each)]
        case _:
            return []


def test_what_is_hidden_says_so() -> None:
    async def story() -> None:
        s = written()
        async with client(s.app) as http:
            first, second = await filled(s, http)
            assert first["run"]["title"] is None
            reasons = {"field": "title", "why": "not_permitted"}
            assert reasons in first["run"]["missing"]
            failed = second["steps"][-1]
            assert failed["error"]["type"] == "400"
            assert failed["error"]["message"] is None
            assert {"field": "error.message", "why": "not_permitted"} in failed["missing"]

    run_async(story())


def test_no_sentinel_comes_over_the_stream() -> None:
    async def story() -> None:
        s = written()
        async with client(s.app) as http, listening(s.app, "topics=runs") as stream:
            await filled(s, http)
            told = await stream.until(lambda event: event.name == "end", 2)
        assert {event.name for event in told} >= {"run", "end"}
        assert "SNT" not in str(told)

    run_async(story())


def test_no_sentinel_of_a_step_comes_over_the_stream() -> None:
    async def story() -> None:
        s = written()
        async with client(s.app) as http:
            before = await position(http)
            s.gate.close()
            answer = await http.post(
                "/api/runs", json={"configuration": "helper", "prompt": "SNTprompt"}
            )
            run_id = answer.json()["runs"][0]["run_id"]
            async with listening(s.app, f"topics=run:{run_id}&after={before}") as stream:
                await stream.until(lambda event: event.name == "step")
                s.gate.open(2)
                told = await stream.until(lambda event: event.name == "end")
            shown = (await http.get(f"/api/runs/{run_id}")).json()
        assert {event.name for event in told} >= {"step", "patch"}
        assert "SNT" not in str(told)
        assert list(steps_of(told).values()) == shown["steps"]

    run_async(story())


@pytest.mark.parametrize(
    ("permissions", "asked", "status"),
    [
        ({"view", "run"}, {}, 403),
        ({"view", "run"}, {"tools": []}, 202),
        ({"view", "run"}, {"dry_run": True}, 202),
        ({"view", "run", "live_tools"}, {}, 202),
        ({"view"}, {"dry_run": True}, 403),
    ],
)
def test_live_tools_need_their_permission(
    permissions: set[Any], asked: dict[str, Any], status: int
) -> None:
    async def story() -> None:
        s = served("Hello", principal=Principal("somebody", frozenset(permissions)))
        async with client(s.app) as http:
            value = {"configuration": "helper", "prompt": "Hello", **asked}
            assert (await http.post("/api/runs", json=value)).status_code == status
            await s.app.runner.stop()

    run_async(story())


def test_tools_for_admins_stay_closed_to_others() -> None:
    async def story() -> None:
        s = served("Hello", principal=Principal("other", VIEWER.permissions))
        async with client(s.app) as http:
            await ended(s.app, http)
        names = [each["function"]["name"] for each in s.model.requests[0]["tools"]]
        assert names == ["add", "fail"]

    run_async(story())

"""Looking into a run: steps in full, search, differences, snippets, labels."""

import subprocess
import sys
from typing import Any

import httpx
import pytest

from loopspan.playground import store
from loopspan.testing import calls
from tests.playground.served import Served, client, ended, run_async, served
from tests.servers import Answer as HttpAnswer
from tests.servers import playing


async def added(s: Served, http: httpx.AsyncClient, **asked: Any) -> tuple[str, list[Any]]:
    shown = await ended(s.app, http, **asked)
    return shown["run"]["run_id"], shown["steps"]


def adding() -> Served:
    return served(calls("add", a=1, b=2), "The sum is 3.")


def test_step_tells_every_attribute_of_its_span() -> None:
    async def story() -> None:
        s = adding()
        async with client(s.app) as http:
            run_id, _ = await added(s, http)
            step = (await http.get(f"/api/runs/{run_id}/steps/3")).json()
            assert step["span"] == "execute_tool add"
            assert step["attributes"]["gen_ai.tool.call.arguments"] == '{"a":1,"b":2}'
            assert step["attributes"]["loopspan.round"] == 1
            absent = await http.get(f"/api/runs/{run_id}/steps/6")
            assert (absent.status_code, absent.json()["error"]["code"]) == (404, "unknown_step")

    run_async(story())


def test_long_attribute_is_a_reference_that_lasts_as_long_as_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        s = served("first", "second")
        async with client(s.app) as http:
            run_id, _ = await added(s, http, prompt="a long question " * 400)
            step = (await http.get(f"/api/runs/{run_id}/steps/1")).json()
            ref = step["attributes"]["gen_ai.input.messages"]
            monkeypatch.setattr(store, "MOST_VIEWS", 0)  # as if many others were opened since
            body = await http.get(f"/api/blobs/{ref['h']}?run={run_id}&limit=262144")
            assert body.status_code == 200
            assert "a long question a long question" in body.text
            assert int(body.headers["x-total"]) == ref["bytes"]

    run_async(story())


def test_search_finds_what_each_step_added_once() -> None:
    async def story() -> None:
        s = adding()
        async with client(s.app) as http:
            run_id, _ = await added(s, http, prompt="Add PLEASE\n1 and 2")
            found = (await http.get(f"/api/runs/{run_id}/search?q=please")).json()
            [hit] = found["hits"]
            assert (hit["n"], hit["field"], found["total"]) == (1, "messages[2]", 1)
            assert "PLEASE" in hit["excerpt"]
            found = (await http.get(f"/api/runs/{run_id}/search?q=add&limit=2")).json()
            assert found["next"] == "2"
            rest = (await http.get(f"/api/runs/{run_id}/search?q=add&cursor=2")).json()
            assert rest["next"] is None
            assert {hit["field"] for hit in (*found["hits"], *rest["hits"])} >= {"name"}

    run_async(story())


def test_difference_of_two_messages_is_of_their_text() -> None:
    async def story() -> None:
        s = served("one\ntwo", "one\n2")
        async with client(s.app) as http:
            _, first = await added(s, http)
            _, second = await added(s, http)
            value = {"a": first[1]["content"]["h"], "b": second[1]["content"]["h"]}
            told = (await http.post("/api/diff", json=value)).json()
            [hunk] = told["hunks"]
            assert [(p["op"], p["text"]) for p in hunk["pieces"]] == [
                ("=", "one"),
                ("-", "two"),
                ("+", "2"),
            ]
            value["mode"] = "word"
            words = (await http.post("/api/diff", json=value)).json()["hunks"][0]["pieces"]
            assert [p["op"] for p in words] == ["=", "-", "+"]

    run_async(story())


@pytest.mark.parametrize("language", ["curl", "httpx"])
@pytest.mark.parametrize("raw", [False, True])
def test_snippet_sends_the_same_request_with_the_key_of_the_environment(
    language: str, raw: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> tuple[Served, Any]:
        s = adding()
        async with client(s.app) as http:
            run_id, _ = await added(s, http, capture_raw=raw, temperature=0.5)
            path = f"/api/runs/{run_id}/steps/4/snippet?language={language}"
            return s, (await http.get(path)).json()

    s, told = run_async(story())
    assert told["environment"] == ["OPENAI_API_KEY"]
    assert told["rebuilt"] is not raw
    named = "Bearer $OPENAI_API_KEY" if language == "curl" else "os.environ['OPENAI_API_KEY']"
    assert named in told["text"]
    with playing([HttpAnswer(200, "application/json", b"{}")]) as played:
        text = told["text"].replace("http://scripted.invalid/v1", played.url)
        command = ["bash", "-c", text] if language == "curl" else [sys.executable, "-c", text]
        monkeypatch.setenv("OPENAI_API_KEY", "a-made-up-key")
        subprocess.run(command, check=True, capture_output=True)
    assert played.bodies == [s.model.wire[1]]


def test_label_is_kept_and_shown() -> None:
    async def story() -> None:
        s = adding()
        async with client(s.app) as http:
            run_id, _ = await added(s, http)
            value = {"title": "Sums", "pinned": True, "note": "look here"}
            changed = (await http.patch(f"/api/runs/{run_id}", json=value)).json()
            assert changed["title"] == "Sums"
            [listed] = (await http.get("/api/runs?q=look")).json()["items"]
            assert (listed["title"], listed["pinned"], listed["note"]) == tuple(value.values())
            listed = (await http.get("/api/runs")).json()
            assert listed["memory"]["runs"] == 1
            wrong = await http.patch(f"/api/runs/{run_id}", json={"colour": "red"})
            assert wrong.status_code == 422

    run_async(story())

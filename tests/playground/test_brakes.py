"""What holds runs back: how many, how long, how often; and where they go."""

import json
import math
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from loopspan import Budget
from loopspan.testing import calls
from tests.playground.served import Served, client, ended, run_async, served


async def post(http: httpx.AsyncClient, **asked: Any) -> httpx.Response:
    value = {"configuration": "helper", "prompt": "Hello", **asked}
    return await http.post("/api/runs", content=json.dumps(value))  # NaN, too


def test_third_run_at_a_time_waits_its_turn() -> None:
    async def story() -> None:
        s = served("1", "2", "3")
        s.gate.close()
        async with client(s.app) as http:
            started = [(await post(http)).json()["runs"][0]["run_id"] for _ in range(2)]
            refused = await post(http)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
            assert "runs" not in refused.json()
            s.gate.open(3)
            for run_id in started:
                await s.app.runner.finished(run_id)
            assert (await post(http)).status_code == 202
            await s.app.runner.stop()

    run_async(story())


def test_same_key_starts_one_run() -> None:
    async def story() -> None:
        s = served("1", "2")
        async with client(s.app) as http:
            one, same, other = [
                (await post(http, idempotency_key=key)).json()["runs"][0]["run_id"]
                for key in ("a", "a", "b")
            ]
            for run_id in (one, other):
                await s.app.runner.finished(run_id)
        assert one == same != other
        assert len(s.model.requests) == 2

    run_async(story())


def test_no_run_uses_up_more_than_the_cap() -> None:
    async def story() -> None:
        s = served(*[calls("add", a=1, b=2)] * 4, "3")
        s.app.runner.cap = Budget(tokens=20)
        async with client(s.app) as http:
            shown = await ended(s.app, http, budget={"tokens": 1_000_000})
        assert shown["run"]["outcome"] == "budget_tokens"
        assert shown["run"]["truncated"] is True
        assert [finding["id"] for finding in shown["run"]["findings"]].count("limit_reached") == 1

    run_async(story())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"configuration": "nobody"}, "no configuration 'nobody'"),
        ({"tools": ["nothing"]}, "no tool 'nothing'"),
        ({"skills": ["nothing"]}, "no skill 'nothing'"),
        ({"snippets": ["nothing"]}, "no snippet 'nothing'"),
        ({"max_rounds": 21}, "max_rounds is 21"),
        ({"budget": {"tokens": -1}}, "budget.tokens is -1"),
        ({"budget": {"usd": math.nan}}, "budget.usd is nan"),
        ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ({"temperature": math.inf}, "temperature: Input should be less than or equal to 2"),
        ({"temperature": "hot"}, "temperature: Input should be a valid number"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"export": True}, "nowhere to export to"),
    ],
)
def test_settings_that_cannot_work_are_told_and_leave_a_run(
    asked: dict[str, Any], said: str
) -> None:
    """PG-05."""

    async def story() -> None:
        s = served()
        async with client(s.app) as http:
            answer = await post(http, **asked)
            assert answer.status_code == 422
            assert said in answer.json()["error"]["message"]
            [run] = answer.json()["runs"]
            shown = (await http.get(f"/api/runs/{run['run_id']}")).json()
            assert said in shown["steps"][0]["error"]["message"]
            assert s.model.requests == []

    run_async(story())


def test_run_is_exported_only_where_that_is_asked_for() -> None:
    exported = InMemorySpanExporter()

    async def story() -> None:
        s = served("1", "2", exporter=SimpleSpanProcessor(exported))
        async with client(s.app) as http:
            await ended(s.app, http)
            assert exported.get_finished_spans() == ()
            shown = await ended(s.app, http, export=True)
            runs = (await http.get("/api/runs")).json()["items"]
        spans = exported.get_finished_spans()
        assert {s.attributes["loopspan.run.id"] for s in spans if s.attributes} == {
            shown["run"]["run_id"]
        }
        assert len(runs) == 2

    run_async(story())


def test_dry_run_asks_nobody_and_shows_the_body_of_the_real_one() -> None:
    async def story() -> None:
        s: Served = served("Hello")
        async with client(s.app) as http:
            dry = await ended(s.app, http, dry_run=True)
            assert s.model.requests == []
            [step] = dry["steps"]
            assert (dry["run"]["outcome"], step["kind"]) == ("dry_run", "assembled")
            body = await http.get(f"/api/blobs/{step['body']['h']}")
            await ended(s.app, http)
            assert body.content == s.model.wire[0]
            context = step["context"]
            counted = [*step["messages"], *step["tools"]]
            assert sum(each["tokens"] for each in counted) == context["used"]
            assert sum(part["tokens"] for part in context["parts"]) == context["used"]
            assert [part["type"] for part in step["parts"]][:2] == ["system", "snippet"]

    run_async(story())


def test_list_goes_on_page_by_page_the_newest_first() -> None:
    async def story() -> None:
        s = served(*"12345")
        async with client(s.app) as http:
            ids = [(await ended(s.app, http))["run"]["run_id"] for _ in range(5)]
            seen: list[str] = []
            query = "limit=2"
            while query:
                page = (await http.get(f"/api/runs?{query}")).json()
                assert page["total_known"] == 5
                seen += [run["run_id"] for run in page["items"]]
                query = page["next"] and f"limit=2&cursor={page['next']}"
            assert seen == ids[::-1]
            wrong = await http.get("/api/runs?cursor=nonsense")
            assert wrong.status_code == 422

    run_async(story())


def test_pinned_run_is_dropped_last() -> None:
    async def story() -> None:
        s = served(*"123")
        s.run_trace.max_runs = 2
        async with client(s.app) as http:
            pinned = (await ended(s.app, http))["run"]["run_id"]
            await http.patch(f"/api/runs/{pinned}", json={"pinned": True})
            await ended(s.app, http)
            await ended(s.app, http)
            runs = (await http.get("/api/runs")).json()["items"]
            assert [run["pinned"] for run in runs] == [False, True]

    run_async(story())


def test_run_that_another_source_has_was_not_dropped() -> None:
    async def story() -> None:
        s = served("3")
        async with client(s.app) as http:
            run_id = (await ended(s.app, http))["run"]["run_id"]
            answer = await http.get(f"/api/runs/{run_id}?source=file")
        assert answer.status_code == 404
        assert "not from this source" in answer.json()["error"]["message"]

    run_async(story())


def test_run_that_was_dropped_is_told_from_one_that_never_was() -> None:
    async def story() -> None:
        s = served("1", "2")
        s.run_trace.max_runs = 1
        async with client(s.app) as http:
            first = (await ended(s.app, http))["run"]["run_id"]
            await ended(s.app, http)
            gone = await http.get(f"/api/runs/{first}")
            assert (gone.status_code, gone.json()["error"]["code"]) == (410, "evicted")
            never = await http.get("/api/runs/never")
            assert (never.status_code, never.json()["error"]["code"]) == (404, "unknown_run")
            assert (await http.get("/api/runs")).json()["dropped"] == 1

    run_async(story())

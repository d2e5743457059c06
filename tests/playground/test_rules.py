"""The rules R1 to R11 of a page that shows runs, as far as the server keeps them.

R4 and R5 are the page's own; R9 stands in test_stream.py, R11 in test_api.py too.
"""

import json
from collections import Counter
from typing import Any

import httpx
import pytest

from loopspan.testing import Answer, calls, message
from tests.playground.served import client, ended, run_async, served
from tests.playground.streams import listening, position


async def told_live(*answers: Answer, **asked: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return a run after its end, and the events that told it."""
    s = served(*answers)
    async with client(s.app) as http:
        before = await position(http)
        s.gate.close()
        value = {"configuration": "helper", "prompt": "1 + 2?", **asked}
        answer = await http.post("/api/runs", json=value)
        run_id = answer.json()["runs"][0]["run_id"]
        async with listening(s.app, f"topics=run:{run_id}&after={before}") as stream:
            for count in range(len(answers)):
                await stream.until(lambda event: event.name == "step", 1 + count)
                s.gate.open()
            events = await stream.until(lambda event: event.name == "end")
        return (await http.get(f"/api/runs/{run_id}")).json(), events


@pytest.mark.parametrize(
    ("answers", "asked", "outcome", "truncated"),
    [
        (["3"], {}, "completed", False),
        ([message("3", finish_reason="length")], {}, "length", True),
        ([message("", finish_reason="content_filter")], {}, "blocked", False),
        ([calls("add", a=1, b=2), "3"], {"max_rounds": 1}, "max_rounds", True),
        ([httpx.Response(400, json={})], {}, "error", False),
    ],
)
def test_r1_success_is_only_what_says_so(
    answers: list[Answer], asked: dict[str, Any], outcome: str, truncated: bool
) -> None:
    shown, events = run_async(told_live(*answers, **asked))
    assert (shown["run"]["outcome"], shown["run"]["truncated"]) == (outcome, truncated)
    assert events[-1].data["status"] == outcome
    found = [event.data["finding"] for event in events if event.name == "finding"]
    assert found == shown["run"]["findings"]
    assert bool(found) is truncated


def test_r2_an_error_is_a_step_and_a_reload_shows_the_same() -> None:
    failed = httpx.Response(400, json={"error": {"message": "no more"}})
    shown, events = run_async(told_live(calls("add", a=1, b=2), failed))
    kinds = [(step["kind"], step["state"]) for step in shown["steps"]]
    assert kinds == [
        ("request", "ok"),
        ("chat", "ok"),
        ("tool", "ok"),
        ("request", "ok"),
        ("chat", "error"),
    ]
    live: dict[int, Any] = {}
    for event in events:
        if event.name == "step":
            live[event.data["step"]["n"]] = event.data["step"]
        if event.name == "patch":
            live[event.data["n"]] |= event.data["fields"]
    assert list(live.values()) == shown["steps"]


def test_r2_secrets_in_an_error_are_marked() -> None:
    secret = "sk-proj-" + "A1b2C3d4" * 6
    failed = httpx.Response(401, json={"error": {"message": f"wrong key {secret}"}})
    shown, events = run_async(told_live(failed, capture_raw=True))
    error = shown["steps"][-1]["error"]
    assert "[redacted: " in error["message"]
    assert "[redacted: " in error["body"]["preview"]
    assert secret not in str(shown) + str(events)


def test_r3_a_step_is_told_once_and_patched_from_then_on() -> None:
    shown, events = run_async(told_live(calls("add", a=1, b=2), "3"))
    told = Counter(event.data["step"]["n"] for event in events if event.name == "step")
    assert told == {step["n"]: 1 for step in shown["steps"]}
    patched = {event.data["n"] for event in events if event.name == "patch"}
    assert 2 in patched
    assert "gap" not in {event.name for event in events}


def test_r6_a_message_without_text_shows_its_calls_and_what_is_unknown_says_why() -> None:
    async def story() -> None:
        s = served(message(None, tool_calls=[("add", {"a": 1, "b": 2}, "call_9")], usage={}), "3")
        async with client(s.app) as http:
            shown = await ended(s.app, http)
            chat = shown["steps"][1]
            [call] = chat["tool_calls"]
            assert (call["id"], call["name"], call["valid"]) == ("call_9", "add", True)
            assert call["arguments"]["preview"] == '{"a":1,"b":2}'
            assert chat["content"]["parts"] == ["tool_call"]
            assert chat["content"]["preview"] == 'add {"a":1,"b":2}'
            unknown = [k for k, v in chat["usage"].items() if v is None]
            why = {each["field"]: each["why"] for each in chat["missing"]}
            assert {why[f"usage.{name}"] for name in unknown} == {"not_reported"}
            assert (chat["cost_usd"], why["cost_usd"]) == (None, "no_price")

    run_async(story())


def test_r7_model_tools_and_other_sum_to_the_elapsed_time() -> None:
    side_by_side = message(None, tool_calls=[("add", {"a": n, "b": n}) for n in range(6)])
    shown, _ = run_async(told_live(side_by_side, "done"))
    time = shown["run"]["time"]
    whole = time["model_ms"] + time["tools_ms"] + time["other_ms"]
    assert whole == pytest.approx(shown["run"]["duration_ms"])
    assert min(time.values()) >= 0


def test_r8_what_was_sent_is_shown_with_schemas_settings_and_models() -> None:
    async def story() -> None:
        s = served("3")
        async with client(s.app) as http:
            shown = await ended(s.app, http, temperature=0.5, tools=["add"])
            request, chat = shown["steps"]
            [offered] = request["tools"]
            schema = json.loads((await http.get(f"/api/blobs/{offered['h']}")).text)
            assert (schema["name"], schema["description"]) == ("add", "Add two numbers.")
            assert schema["parameters"]["required"] == ["a", "b"]
            assert request["parameters"]["temperature"] == 0.5
            assert (request["model"], chat["response_model"]) == ("scripted-1", "scripted-1")
            boot = (await http.get("/api/boot")).json()
            assert offered["h"] in [tool["h"] for tool in boot["tools"]]

    run_async(story())


def test_r10_what_ended_a_run_outside_its_steps_is_of_a_kind_of_its_own() -> None:
    async def story() -> None:
        async with client(served().app) as http:
            value = {"configuration": "nobody", "prompt": "Hello"}
            run = (await http.post("/api/runs", json=value)).json()["runs"][0]
            shown = (await http.get(f"/api/runs/{run['run_id']}")).json()
            [step] = shown["steps"]
            assert (step["kind"], step["n"], shown["run"]["step_count"]) == ("error", 1, 1)
            detail = (await http.get(f"/api/runs/{run['run_id']}/steps/1")).json()
            assert detail["span"] == "invoke_agent nobody"

    run_async(story())

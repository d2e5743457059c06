"""The words of an answer, told as they come."""

import asyncio
from collections.abc import Callable

import httpx

from loopspan.playground import Principal
from loopspan.testing import calls
from tests.playground.served import Served, client, run_async, served
from tests.playground.streams import Told, listening, position
from tests.playground.words import Slow


def is_end(event: Told) -> bool:
    return event.name == "end"


def said(*parts: str) -> Callable[[Told], bool]:
    return lambda event: event.name == "text" and event.data["text"] in parts


async def told_to_somebody(s: Served) -> None:
    """Wait until words were told, to those who may read them."""
    waker = asyncio.Event()
    stop = s.app.hub.watch(waker)
    while not any(event.name == "text" for event in s.app.hub.since(0)):
        waker.clear()
        await waker.wait()
    stop()


async def begun(s: Served, http: httpx.AsyncClient) -> tuple[str, str]:
    """Start a run that is streamed; return its id and what to listen to."""
    before = await position(http)
    value = {"configuration": "helper", "prompt": "Hi", "tools": [], "stream": True}
    answer = await http.post("/api/runs", json=value)
    assert answer.status_code == 202, answer.text
    run_id = answer.json()["runs"][0]["run_id"]
    return run_id, f"topics=runs,run:{run_id}&after={before}"


def test_words_are_told_while_the_answer_is_on_its_way() -> None:
    """6.5: `text` events, and what a page that comes later is given."""

    async def story() -> None:
        slow = Slow()
        s = served(slow)
        async with client(s.app) as http:
            run_id, topics = await begun(s, http)
            async with listening(s.app, topics) as stream:
                slow.say("Hel", "lo 😀")
                first = (await stream.until(said("Hello 😀")))[-1]
                assert first.data == {"run_id": run_id, "n": 2, "at": 0, "text": "Hello 😀"}
                shown = (await http.get(f"/api/runs/{run_id}")).json()
                assert shown["text"] == {"n": 2, "text": "Hello 😀"}
                assert shown["steps"][1]["state"] == "open"
                slow.say(" there")
                # A browser counts the face as two.
                assert (await stream.until(said(" there")))[-1].data["at"] == 8
                slow.say(None)
                await stream.until(is_end)
            shown = (await http.get(f"/api/runs/{run_id}")).json()
            assert shown["text"] is None
            assert shown["steps"][1]["content"]["preview"] == "Hello 😀 there"

    run_async(story())


def test_words_are_content() -> None:
    async def story() -> None:
        slow = Slow()
        viewer = Principal("viewer", frozenset({"view", "run"}))
        s = served(slow, principal=viewer)
        async with client(s.app) as http:
            run_id, topics = await begun(s, http)
            async with listening(s.app, topics) as stream:
                slow.say("sentinel")
                await told_to_somebody(s)
                assert (await http.get(f"/api/runs/{run_id}")).json()["text"] is None
                slow.say(None)
                told = await stream.until(is_end)
            assert not [event for event in told if event.name == "text"]

    run_async(story())


def test_run_that_is_streamed_is_the_run_that_is_not() -> None:
    async def story() -> None:
        found = []
        for stream in (False, True):
            s = served(calls("add", a=1, b=2), "It is 3.")
            async with client(s.app) as http:
                value = {"configuration": "helper", "prompt": "1 + 2?", "stream": stream}
                answer = await http.post("/api/runs", json=value)
                run_id = answer.json()["runs"][0]["run_id"]
                await s.app.runner.finished(run_id)
                run = s.run_trace.run(run_id)
                assert run is not None
                found.append((run.outcome, run.content, [step.kind for step in run.steps]))
        assert found[0] == found[1]
        assert found[0][:2] == ("completed", "It is 3.")

    run_async(story())


def test_streamed_run_is_cancelled() -> None:
    async def story() -> None:
        slow = Slow()
        s = served(slow)
        async with client(s.app) as http:
            run_id, topics = await begun(s, http)
            async with listening(s.app, topics) as stream:
                slow.say("Hel")
                await stream.until(said("Hel"))
                assert (await http.post(f"/api/runs/{run_id}/cancel", json={})).status_code == 202
                told = await stream.until(is_end)
            assert told[-1].data["status"] == "cancelled"
            assert (await http.get(f"/api/runs/{run_id}")).json()["text"] is None

    run_async(story())

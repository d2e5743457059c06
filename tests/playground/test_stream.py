"""The stream: live, resumed without loss or doubles, bounded, gone when its reader is."""

from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from loopspan.playground import hub as hub_module
from loopspan.playground import stream as stream_module
from loopspan.testing import calls
from tests.playground.served import client, ended, run_async, served
from tests.playground.streams import Told, listening, position


def is_end(event: Told) -> bool:
    return event.name == "end"


async def started(http: httpx.AsyncClient, **asked: Any) -> str:
    value = {"configuration": "helper", "prompt": "1 + 2?", **asked}
    answer = await http.post("/api/runs", json=value)
    assert answer.status_code == 202, answer.text
    run_id: str = answer.json()["runs"][0]["run_id"]
    return run_id


def steps_of(events: list[Told]) -> dict[int, dict[str, Any]]:
    """Do what the page does: append steps, patch them."""
    steps: dict[int, dict[str, Any]] = {}
    for event in events:
        if event.name == "step":
            steps[event.data["step"]["n"]] = event.data["step"]
        elif event.name == "patch":
            steps[event.data["n"]] |= event.data["fields"]
    return steps


@pytest.mark.parametrize("version", ["2.3", "2.4"])
def test_request_arrives_while_the_provider_is_held_back(version: str) -> None:
    async def story() -> None:
        s = served(calls("add", a=1, b=2), "3")
        async with client(s.app) as http:
            before = await position(http)
            s.gate.close()
            run_id = await started(http)
            topics = f"topics=runs,run:{run_id}&after={before}"
            async with listening(s.app, topics, version=version) as stream:
                assert stream.headers["cache-control"] == "no-store"
                assert stream.headers["x-accel-buffering"] == "no"
                told = await stream.until(lambda event: event.name == "step", 2)
                kinds = [(e.data["step"]["kind"], e.data["step"]["state"]) for e in told[1:]]
                assert kinds == [("request", "ok"), ("chat", "open")]
                shown = (await http.get(f"/api/runs/{run_id}")).json()
                assert (len(shown["steps"]), shown["run"]["step_count"]) == (2, 2)
                s.gate.open(2)
                told = await stream.until(is_end)
            assert told[-1].data == {"run_id": run_id, "status": "completed"}
            shown = (await http.get(f"/api/runs/{run_id}")).json()
            assert list(steps_of(told).values()) == shown["steps"]
            last = [e.data for e in told if e.name == "run"][-1]
            assert {**last, "seq": None} == {**shown["run"], "seq": None}

    run_async(story())


def test_reader_that_comes_back_misses_nothing_and_gets_nothing_twice() -> None:
    async def story() -> None:
        s = served(calls("add", a=1, b=2), "3")
        async with client(s.app) as http:
            before = await position(http)
            s.gate.close()
            run_id = await started(http)
            topic = f"topics=run:{run_id}"
            async with listening(s.app, f"{topic}&after={before}") as stream:
                first = await stream.until(lambda event: event.name == "step", 2)
            s.gate.open(2)
            await s.app.runner.finished(run_id)
            # The header wins over the query, as EventSource sends it when it reconnects.
            headers = {"last-event-id": first[-1].id}
            async with listening(s.app, f"{topic}&after={before}", headers=headers) as stream:
                second = await stream.until(is_end)
            ids = [event.id for event in (*first, *second)]
            assert len(set(ids)) == len(ids)
            shown = (await http.get(f"/api/runs/{run_id}")).json()
            assert list(steps_of([*first, *second]).values()) == shown["steps"]

    run_async(story())


def test_reader_of_another_process_is_told_to_load_again() -> None:
    async def story() -> None:
        s = served()
        async with listening(s.app, "topics=runs&after=0123456789abcdef.7") as stream:
            [gap] = await stream.until(lambda event: event.name == "gap")
            assert gap.data["why"] == "another process, or a restart"
            assert gap.id.startswith(s.app.hub.epoch)

    run_async(story())


def test_slow_reader_gets_a_gap_and_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "KEPT", 5)

    async def story() -> None:
        s = served("1", "2", "3")
        async with client(s.app) as http:
            before = await position(http)
            query = f"topics=runs&after={before}"
            async with listening(s.app, query, reading=False) as stream:
                for _ in range(3):
                    await ended(s.app, http)
                stream.reading.set()
                told = await stream.until(is_end)
            assert told[0].name == "gap"
            assert told[0].data["why"] == "too far behind"

    run_async(story())


def test_events_that_were_lost_are_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MOST_WAITING", 1)

    async def story() -> None:
        s = served(calls("add", a=1, b=2), "3")
        async with client(s.app) as http:
            before = await position(http)
            async with listening(s.app, f"topics=runs&after={before}") as stream:
                await ended(s.app, http)
                told = await stream.until(lambda event: event.name == "gap")
            gap = next(event for event in told if event.name == "gap")
            assert gap.data["why"].endswith("events were lost")

    run_async(story())


def test_event_that_cannot_be_told_is_a_gap_and_the_next_ones_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        s = served("1", "2")
        async with client(s.app) as http:
            before = await position(http)
            query = f"topics=runs&after={before}"
            async with listening(s.app, query) as stream:
                with monkeypatch.context() as broken:
                    broken.setattr(hub_module, "totals", None)
                    s.gate.close()
                    first = await started(http)
                    await stream.until(lambda event: event.name == "gap")
                s.gate.open(2)
                await s.app.runner.finished(first)
                run_id = (await ended(s.app, http))["run"]["run_id"]
                told = await stream.until(
                    lambda event: is_end(event) and event.data["run_id"] == run_id
                )
        assert "could not be told" in caplog.text
        assert told

    run_async(story())


def test_ping_notices_a_reader_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """From version 2.4 of the protocol on only `send` tells."""
    monkeypatch.setattr(stream_module, "PING_SECONDS", 0.01)

    async def story() -> None:
        s = served()
        async with listening(s.app, "topics=runs", version="2.4") as stream:
            stream.gone = True
            await stream.over.wait()
            assert s.app.hub.readers == 0

    run_async(story())


def test_reader_that_disconnects_is_forgotten() -> None:
    async def story() -> None:
        s = served()
        async with listening(s.app, "topics=runs"):
            assert s.app.hub.readers == 1
        assert s.app.hub.readers == 0

    run_async(story())


def test_ninth_stream_of_a_principal_is_refused() -> None:
    async def story() -> None:
        s = served()
        async with contexts(s.app, 8), listening(s.app, "topics=runs") as stream:
            assert stream.status == 429
            assert int(stream.headers["retry-after"]) > 0
        async with listening(s.app, "topics=runs") as stream:
            assert stream.status == 200

    run_async(story())


def contexts(app: Any, count: int) -> Any:
    class Many(AsyncExitStack):
        async def __aenter__(self) -> "Many":
            for _ in range(count):
                await self.enter_async_context(listening(app, "topics=runs"))
            return self

    return Many()


def test_r9_run_outlives_its_reader_and_can_be_cancelled() -> None:
    """R1, R9: cancelled is never told as completed."""

    async def story() -> None:
        s = served("never")
        async with client(s.app) as http:
            before = await position(http)
            s.gate.close()
            run_id = await started(http)
            async with listening(s.app, f"topics=run:{run_id}&after={before}") as stream:
                await stream.until(lambda event: event.name == "step", 2)
            assert (await http.post(f"/api/runs/{run_id}/cancel", json={})).status_code == 202
            await s.app.runner.finished(run_id)
            shown = (await http.get(f"/api/runs/{run_id}")).json()
            assert shown["run"]["outcome"] == "cancelled"
            assert [step["state"] for step in shown["steps"]] == ["ok", "cancelled"]
            again = await http.post(f"/api/runs/{run_id}/cancel", json={})
            assert (again.status_code, again.json()["error"]["code"]) == (409, "not_running")

    run_async(story())

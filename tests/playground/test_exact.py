"""The light form and its bodies are the exact run, whatever models and tools say."""

from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopspan import Run
from loopspan.jsontext import load
from loopspan.testing import calls, message
from tests.playground.served import Served, client, ended, run_async, served
from tests.runs.generated import texts, usages, values

said = st.builds(message, st.none() | texts, usage=usages)
asked = st.builds(
    message,
    st.none() | texts,
    tool_calls=st.lists(
        st.tuples(
            st.sampled_from(["add", "fail", "unknown"]),
            st.fixed_dictionaries({"a": values, "b": values}) | st.just({"a": 1, "b": 2}),
        ),
        min_size=1,
        max_size=2,
    ),
    usage=usages,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(asked, max_size=3), said, st.text(max_size=20), st.booleans())
def test_light_form_and_bodies_are_the_exact_run(
    rounds: list[Any], last: Any, prompt: str, raw: bool
) -> None:
    async def story() -> None:
        s = served(*rounds, last)
        async with client(s.app) as http:
            shown = await ended(s.app, http, prompt=prompt, capture_raw=raw)
            exact = s.run_trace.run(shown["run"]["run_id"])
            assert exact is not None
            rebuilt = await Rebuilding(s, http, shown).run(exact)
            assert rebuilt == load(exact.model_dump_json())["steps"]

    run_async(story())


class Rebuilding:
    """Puts the bodies back where the light form has references, through the API alone."""

    def __init__(self, s: Served, http: httpx.AsyncClient, shown: dict[str, Any]) -> None:
        self._s, self._http, self._shown = s, http, shown

    async def run(self, exact: Run) -> list[dict[str, Any]]:
        steps = [s for s in self._shown["steps"] if s["kind"] != "error"]
        return [
            {name: await self._value(step, name, value) for name, value in whole.items()}
            for step, whole in zip(steps, load(exact.model_dump_json())["steps"], strict=True)
        ]

    async def _body(self, ref: Any) -> Any:
        """Return a whole body, read in small parts."""
        at, whole = 0, b""
        while True:
            path = f"/api/blobs/{ref['h']}?offset={at}&limit=64"
            answer = await self._http.get(path)
            assert answer.status_code == 200, answer.text
            whole += answer.content
            if "x-next" not in answer.headers:
                assert len(whole) == int(answer.headers["x-total"])
                return whole.decode()
            at = int(answer.headers["x-next"])

    async def _json(self, ref: Any) -> Any:
        return load(await self._body(ref))

    async def _value(self, step: dict[str, Any], name: str, exact: Any) -> Any:
        """Return a field of the exact step, out of the light one where it is there."""
        match step["kind"], name:
            case "request", "messages":
                return await self._messages(step["round"])
            case "request", "new_from":
                return step["messages"]["new_from"]
            case "request", "tools":
                return [await self._json(tool) for tool in step["tools"]]
            case "request", "context":
                return exact  # told in another form
            case "chat", "content":
                return await self._content(step)
            case "chat", "thinking":
                return None if step["thinking"] is None else await self._body(step["thinking"])
            case "chat", "tool_calls":
                return [await self._call(call) for call in step["tool_calls"]]
            case "chat", "raw":
                return step["raw"] and {k: await self._body(v) for k, v in step["raw"].items()}
            case "tool", "arguments":
                return await self._arguments(step["arguments"])
            case "tool", "result":
                return None if step["result"] is None else await self._body(step["result"])
            case _, "error":
                error = step["error"]
                return error and {k: error[k] for k in ("type", "message")}
            case _, "missing":
                return [{"detail": None, **each} for each in step["missing"]]
            case _, "cut":
                return [{k: v for k, v in each.items() if k != "why"} for each in step["cut"]]
            case _:
                return step[name]

    async def _messages(self, round: int) -> list[Any]:
        run_id, found = self._shown["run"]["run_id"], list[Any]()
        at: int | None = 0
        while at is not None:
            path = f"/api/runs/{run_id}/rounds/{round}/messages?offset={at}&limit=2"
            page = (await self._http.get(path)).json()
            found += [await self._json(ref) for ref in page["items"]]
            at = page["next"]
        return found

    async def _content(self, step: dict[str, Any]) -> str:
        if step["content"] is None:
            return ""
        parts = (await self._json(step["content"]))["parts"]
        return "".join(part["content"] for part in parts if part["type"] == "text")

    async def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        arguments = await self._arguments(call["arguments"])
        return {"id": call["id"], "name": call["name"], "arguments": arguments}

    async def _arguments(self, ref: dict[str, Any]) -> Any:
        body = await self._body(ref)
        return load(body) if ref["media_type"] == "application/json" else body


def test_odd_values_come_out_as_json_that_everybody_reads() -> None:
    """NaN and lone surrogates; PG-02: what was a list stays that list, byte for byte."""

    async def story() -> None:
        odd = message(tool_calls=[("add", '{"a": NaN, "b": "\\ud800"}'), ("add", "[1,2]")])
        s = served(odd, "\ud800")
        async with client(s.app) as http:
            value = b'{"configuration": "helper", "prompt": "\\ud800 \\u0000"}'
            run_id = (await http.post("/api/runs", content=value)).json()["runs"][0]["run_id"]
            await s.app.runner.finished(run_id)
            shown = (await http.get(f"/api/runs/{run_id}")).json()
            tools = [step for step in shown["steps"] if step["kind"] == "tool"]
            for step in tools:
                path = f"/api/runs/{shown['run']['run_id']}/steps/{step['n']}"
                assert (await http.get(path)).status_code == 200
            body = await http.get(f"/api/blobs/{tools[1]['arguments']['h']}")
            assert body.content == b"[1,2]"

    run_async(story())


def test_parts_of_a_body_end_between_characters() -> None:
    async def story() -> None:
        s = served("äöü" * 50)
        async with client(s.app) as http:
            shown = await ended(s.app, http)
            h = shown["steps"][1]["content"]["h"]
            part = await http.get(f"/api/blobs/{h}?offset=0&limit=62")
            # The text begins at byte 55, and each of its characters has two.
            assert int(part.headers["x-next"]) == 61
            assert part.text.endswith("äöü")
            inside = await http.get(f"/api/blobs/{h}?offset=62")
            assert inside.text.startswith("äöü")
            whole = await http.get(f"/api/blobs/{h}?download=1")
            assert whole.headers["content-disposition"].startswith("attachment")
            assert "sandbox" in whole.headers["content-security-policy"]
            gone = await http.get(f"/api/blobs/{'0' * 32}")
            assert (gone.status_code, gone.json()["error"]["code"]) == (410, "evicted")

    run_async(story())


def test_hashes_of_two_processes_differ() -> None:
    """A hash cannot be used to guess a short text."""

    async def story() -> None:
        seen = []
        for _ in range(2):
            s = served("yes")
            async with client(s.app) as http:
                shown = await ended(s.app, http)
            seen.append(shown["steps"][1]["content"]["h"])
        assert seen[0] != seen[1]
        s = served(calls("add", a=1, b=2), "yes", "yes")
        async with client(s.app) as http:
            first, second = await ended(s.app, http), await ended(s.app, http)
        assert first["steps"][-1]["content"]["h"] == second["steps"][1]["content"]["h"]

    run_async(story())

"""Runs that go out as files and come in again, as text, from backends."""

import json

from loopspan.testing import calls
from tests.playground.served import client, ended, run_async, served


def test_exported_run_is_the_exact_one_and_comes_in_again() -> None:
    async def story() -> None:
        s, other = served(calls("add", a=1, b=2), "3"), served()
        async with client(s.app) as http, client(other.app) as elsewhere:
            shown = await ended(s.app, http)
            run_id = shown["run"]["run_id"]
            answer = await http.get(f"/api/runs/{run_id}/export?format=run")
            assert "attachment" in answer.headers["content-disposition"]
            exact = s.run_trace.run(run_id)
            assert exact is not None
            assert answer.json() == exact.model_dump(mode="json")
            taken = await elsewhere.post("/api/imports", content=answer.content)
            assert taken.json()["runs"][0]["source"] == {"type": "file", "name": "import"}
            again = (await elsewhere.get(f"/api/runs/{run_id}")).json()
            assert [x["n"] for x in again["steps"]] == [x["n"] for x in shown["steps"]]
            for name in ("usage", "outcome", "cost_usd", "duration_ms", "time", "findings"):
                assert again["run"][name] == shown["run"][name]
            lines = await http.get(f"/api/runs/{run_id}/export?format=ndjson")
            assert [json.loads(line)["event"] for line in lines.text.splitlines()][-1] == "run"

    run_async(story())


def test_exported_spans_are_the_run_again_and_a_run_without_spans_says_so() -> None:
    async def story() -> None:
        s, other = served(calls("add", a=1, b=2), "3"), served()
        async with client(s.app) as http, client(other.app) as elsewhere:
            run_id = (await ended(s.app, http))["run"]["run_id"]
            spans = await http.get(f"/api/runs/{run_id}/export?format=otlp-json")
            assert "resourceSpans" in spans.json()
            await elsewhere.post("/api/imports", content=spans.content)
            exact = await http.get(f"/api/runs/{run_id}/export?format=run")
            again = await elsewhere.get(f"/api/runs/{run_id}/export?format=run")
            assert again.json() == exact.json()
            await elsewhere.post("/api/imports", content=exact.content)
            refused = await elsewhere.get(f"/api/runs/{run_id}/export?format=otlp-json")
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "no_spans")

    run_async(story())


def test_run_as_markdown_has_no_markup_of_the_model() -> None:
    async def story() -> None:
        s = served("```\n<script>alert(1)</script>")
        async with client(s.app) as http:
            run_id = (await ended(s.app, http))["run"]["run_id"]
            for path in (f"{run_id}.md", f"{run_id}/export?format=md"):
                answer = await http.get(f"/api/runs/{path}")
                assert answer.headers["content-type"].startswith("text/markdown")
                assert "\n````\n```\n<script>alert(1)</script>\n````\n" in answer.text

    run_async(story())


def test_file_that_cannot_be_read_is_told() -> None:
    async def story() -> None:
        async with client(served().app) as http:
            answer = await http.post("/api/imports", content=b'{"some": "thing"}')
            assert answer.status_code == 422
            assert "resourceSpans" in answer.json()["error"]["message"]
            answer = await http.post("/api/imports", content=b'{"resourceSpans": []}')
            told = {"runs": [], "partial": False, "warnings": ["no span in it is of a run"]}
            assert answer.json() == told

    run_async(story())


def test_export_masks_secrets_unless_all_is_asked_for() -> None:
    async def story() -> None:
        secret = "sk-proj-" + "A1b2C3d4" * 6
        s = served(f"The key is {secret}.")
        async with client(s.app) as http:
            run_id = (await ended(s.app, http))["run"]["run_id"]
            masked = (await http.get(f"/api/runs/{run_id}/export")).text
            whole = (await http.get(f"/api/runs/{run_id}/export?redact=0")).text
        assert secret not in masked
        assert "[redacted: " in masked
        assert secret in whole

    run_async(story())


def test_run_as_text_needs_no_javascript_and_obeys_nothing() -> None:
    async def story() -> None:
        s = served("\x1b[2J<script>alert(1)</script>")
        async with client(s.app) as http:
            run_id = (await ended(s.app, http))["run"]["run_id"]
            text = await http.get(f"/api/runs/{run_id}.txt")
            assert text.headers["content-type"].startswith("text/plain")
            assert "\\x1b[2J" in text.text
            assert "\x1b" not in text.text
            listed = (await http.get("/api/runs.txt")).text
            assert run_id in listed
            page = (await http.get(f"/api/runs/{run_id}/export?format=html")).text
            assert "<script" not in page
            assert "&lt;script&gt;" in page

    run_async(story())


def test_unknown_backend_is_told_and_none_is_given_by_address() -> None:
    async def story() -> None:
        async with client(served().app) as http:
            value = {"backend": "http://10.0.0.1", "trace_id": "0" * 31 + "1"}
            answer = await http.post("/api/fetch", json=value)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unknown_backend")

    run_async(story())

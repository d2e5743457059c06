"""One inspector, four sources: the same run has the same steps, numbers and permalinks."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from loopspan.playground import Principal
from loopspan.playground.opening import Backend
from loopspan.runs.sources import JaegerSource, TempoSource
from loopspan.runs.sources.drivers import Drivers
from loopspan.testing import message
from tests.playground.served import client, ended, run_async, served
from tests.runs.sources.shapes import as_jaeger, as_tempo_2

Shape = Callable[[Sequence[ReadableSpan]], Any]
SOURCES: list[tuple[type[Backend], Shape]] = [
    (JaegerSource, as_jaeger),
    (TempoSource, as_tempo_2),
]


def backend(kind: type[Backend], shape: Shape, spans: InMemorySpanExporter) -> Backend:
    """Return a backend that has all spans that were exported, under any id."""

    async def answer(request: httpx.Request) -> httpx.Response:
        found = spans.get_finished_spans()
        status = 200 if found else 404
        return httpx.Response(status, json=shape(found) if found else {"error": "none"})

    mock = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return kind("http://backend.invalid", Drivers(async_client=mock))


def bare(shown: dict[str, Any]) -> dict[str, Any]:
    """Return a run without what says where it came from."""
    told = ("source", "seq", "pinned", "note")
    return {
        "run": {k: v for k, v in shown["run"].items() if k not in told},
        "steps": shown["steps"],
    }


ANSWERS = (
    message(
        "Let me see.",
        tool_calls=[("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}), ("fail", {})],
        usage={"prompt_tokens": 100, "completion_tokens": 5},
    ),
    message("3 and 7", usage={"prompt_tokens": 200, "completion_tokens": 5}),
)


@pytest.mark.parametrize(("kind", "shape"), SOURCES, ids=["jaeger", "tempo"])
def test_run_from_a_backend_is_the_run_in_memory(kind: type[Backend], shape: Shape) -> None:
    async def story() -> None:
        spans = InMemorySpanExporter()
        source = backend(kind, shape, spans)
        s = served(*ANSWERS, exporter=SimpleSpanProcessor(spans), backends=[source])
        async with client(s.app) as http:
            boot = (await http.get("/api/boot")).json()
            assert [each["name"] for each in boot["backends"]] == [source.type]
            shown = await ended(s.app, http, export=True, capture_raw=True)
            run = shown["run"]
            value = {"backend": source.type, "trace_id": run["trace_id"]}
            told = (await http.post("/api/fetch", json=value)).json()
            assert [each["run_id"] for each in told["runs"]] == [run["run_id"]]
            assert told["partial"] is False
            path = f"/api/runs/{run['run_id']}?source={source.type}"
            again = (await http.get(path)).json()
            assert again["run"]["source"]["type"] == source.type
            assert bare(again) == bare(shown)
            listed = (await http.get(f"/api/runs?source={source.type}")).json()
            assert listed["total_known"] == 1

    run_async(story())


def test_run_from_its_own_export_is_the_run_in_memory() -> None:
    async def story() -> None:
        s = served(*ANSWERS)
        async with client(s.app) as http:
            shown = await ended(s.app, http, capture_raw=True)
            run_id = shown["run"]["run_id"]
            for form in ("otlp-json", "run", "ndjson"):
                file = await http.get(f"/api/runs/{run_id}/export?format={form}&redact=0")
                taken = await http.post("/api/imports", content=file.content)
                assert taken.status_code == 200, taken.text
                again = (await http.get(f"/api/runs/{run_id}?source=file")).json()
                assert bare(again) == bare(shown), form

    run_async(story())


def test_trace_that_is_not_there_is_told() -> None:
    async def story() -> None:
        source = backend(JaegerSource, as_jaeger, InMemorySpanExporter())
        async with client(served(backends=[source]).app) as http:
            value = {"backend": "jaeger", "trace_id": "0" * 31 + "1"}
            answer = await http.post("/api/fetch", json=value)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_run")
            for wrong in ("xyz", "0" * 31, "A" * 32, "../../x"):
                value = {"backend": "jaeger", "trace_id": wrong}
                assert (await http.post("/api/fetch", json=value)).status_code == 422

    run_async(story())


def test_fetched_run_shows_no_content_to_those_who_may_not_see_it() -> None:
    async def story() -> None:
        spans = InMemorySpanExporter()
        viewer = Principal("viewer", frozenset({"view", "run", "live_tools"}))
        source = backend(JaegerSource, as_jaeger, spans)
        s = served(
            *ANSWERS,
            exporter=SimpleSpanProcessor(spans),
            backends=[source],
            principal=viewer,
        )
        async with client(s.app) as http:
            shown = await ended(s.app, http, export=True, prompt="SNTprompt")
            value = {"backend": "jaeger", "trace_id": shown["run"]["trace_id"]}
            told = await http.post("/api/fetch", json=value)
            assert "SNT" not in told.text
            assert told.json()["runs"][0]["title"] is None

    run_async(story())


def test_trace_that_was_cut_shows_the_text_that_is_left_and_why() -> None:
    """PG-06: never an empty form."""

    async def story() -> None:
        s = served("Hello")
        async with client(s.app) as http:
            shown = await ended(s.app, http, prompt="A long question " * 20)
            run_id = shown["run"]["run_id"]
            path = f"/api/runs/{run_id}/export?format=otlp-json&redact=0"
            document = (await http.get(path)).json()
            for attribute in attributes_of(document):
                if attribute["key"] == "gen_ai.input.messages":
                    text = attribute["value"]["stringValue"]
                    attribute["value"]["stringValue"] = text[:200]
            await http.post("/api/imports", content=json.dumps(document))
            again = (await http.get(f"/api/runs/{run_id}?source=file")).json()
            request = again["steps"][0]
            assert request["messages"] is None
            why = {each["field"]: each["why"] for each in request["missing"]}
            assert why["messages"] == why["delta"] == "unparsable"
            step = (await http.get(f"/api/runs/{run_id}/steps/1?source=file")).json()
            left = step["attributes"]["gen_ai.input.messages"]
            assert left.startswith('[{"role":')

    run_async(story())


def attributes_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        attribute
        for resource in document["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
        for attribute in span["attributes"]
    ]

"""Listing what a source has: what is asked for, and what the list tells."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from loopspan.errors import ConfigurationError, RunNotFound, SourceError
from loopspan.runs import RunTrace
from loopspan.runs.sources import (
    FileSource,
    JaegerSource,
    Listing,
    MemorySource,
    Query,
    Source,
    TempoSource,
)
from loopspan.runs.sources.summary import summary_of
from loopspan.testing import capture
from tests.runs.sources.recorded import recorded
from tests.runs.sources.shapes import answering, as_jaeger, file_whole

START, END = datetime(2026, 5, 1, 12, tzinfo=UTC), datetime(2026, 5, 1, 13, 30, tzinfo=UTC)


def search(source: Source, query: Query | None = None) -> Listing:
    return source.search(query)


def asearch(source: Source, query: Query | None = None) -> Listing:
    return asyncio.run(source.asearch(query))


each_way = pytest.mark.parametrize("way", [search, asearch])
Way = Callable[[Source, Query | None], Listing]


@each_way
def test_memory_and_file_list_the_newest_first(tmp_path: Path, way: Way) -> None:
    with capture() as captured:
        runs = [recorded(captured.provider) for _ in range(3)]
    path = tmp_path / "spans.json"
    path.write_bytes(file_whole(captured.spans))
    expected = tuple(summary_of(run) for run in reversed(runs))
    for source in (MemorySource(captured.run_trace), FileSource(path)):
        assert way(source, None).runs == expected
        assert way(source, Query(limit=2)).runs == expected[:2]
        assert way(source, Query(until=START, since=START - timedelta(days=1))).runs == ()
        asked = Query(attributes={"loopspan.run.id": runs[1].run_id}, service="shop")
        assert way(source, asked) == Listing(
            expected[1:2],
            warnings=("which service a run belongs to is not known here, so all are listed",),
        )


def test_memory_says_what_to_do_where_a_run_is_not_there() -> None:
    with pytest.raises(RunNotFound, match="only runs of this process are here"):
        MemorySource(RunTrace()).fetch("x")
    with capture() as captured:
        captured.run_trace.max_runs = 1
        first, second = recorded(captured.provider), recorded(captured.provider)
    source = MemorySource(captured.run_trace)
    assert source.fetch(second.run_id).runs == (second,)
    with pytest.raises(RunNotFound, match="has dropped 1; ask the backend"):
        source.fetch(first.run_id)


@each_way
def test_jaeger_is_asked_in_both_spellings_and_its_merged_traces_told_apart(way: Way) -> None:
    with capture() as captured:
        runs = [recorded(captured.provider) for _ in range(2)]
    drivers, requests = answering(httpx.Response(200, json=as_jaeger(captured.spans)))
    east = timezone(timedelta(hours=2))
    query = Query(
        service="shop",
        since=START.astimezone(east),
        until=END,
        limit=5,
        attributes={"gen_ai.agent.name": "a"},
    )
    listed = way(JaegerSource("http://jaeger:16686", drivers), query)
    assert listed == Listing(tuple(summary_of(run) for run in reversed(runs)))
    [request] = requests
    told = dict(request.url.params)
    assert request.url.path == "/api/v3/traces"
    assert json.loads(told.pop("query.attributes")) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "a",
    }
    values = ("shop", "2026-05-01T12:00:00.000000Z", "2026-05-01T13:30:00.000000Z", "5")
    assert told == {
        **dict(
            zip(
                (
                    "query.serviceName",
                    "query.startTimeMin",
                    "query.startTimeMax",
                    "query.searchDepth",
                ),
                values,
                strict=True,
            )
        ),
        **dict(
            zip(
                (
                    "query.service_name",
                    "query.start_time_min",
                    "query.start_time_max",
                    "query.num_traces",
                ),
                values,
                strict=True,
            )
        ),
    }


@each_way
def test_jaeger_is_asked_for_each_of_its_services_where_none_is_named(way: Way) -> None:
    with capture() as captured:
        run = recorded(captured.provider)
    many = {"services": ["b", *(f"s{n:02}" for n in range(20))]}
    none = [httpx.Response(404, json={"error": {"message": "none"}})] * 19
    found = httpx.Response(200, json=as_jaeger(captured.spans))
    drivers, requests = answering(httpx.Response(200, json=many), found, *none)
    listed = way(JaegerSource("http://jaeger:16686", drivers), None)
    assert listed.runs == (summary_of(run),)
    assert listed.warnings == ("only 20 of 21 services were asked; name one",)
    assert requests[0].url.path == "/api/v3/services"
    asked = [request.url.params["query.serviceName"] for request in requests[1:]]
    assert asked == ["b", *(f"s{n:02}" for n in range(19))]


def attribute(key: str, **value: Any) -> dict[str, Any]:
    return {"key": key, "value": value}


FOUND = {
    "traces": [
        {
            "traceID": "af7651916cd43dd8448eb211c80319c",
            "rootServiceName": "shop",
            "rootTraceName": "POST /ask",
            "startTimeUnixNano": "1777640000000000000",
            "durationMs": 90,
            "spanSets": [
                {
                    "spans": [
                        {
                            "spanID": "1",
                            "name": "invoke_agent support",
                            "startTimeUnixNano": "1777640000001000000",
                            "durationNanos": "80000000",
                            "attributes": [
                                attribute("loopspan.run.id", stringValue="r1"),
                                attribute("gen_ai.agent.name", stringValue="support"),
                                attribute("loopspan.outcome", stringValue="max_rounds"),
                                attribute("loopspan.rounds", intValue="3"),
                                attribute("loopspan.usage.input_tokens", intValue="70"),
                                attribute("loopspan.cost.usd", doubleValue=0.5),
                            ],
                        }
                    ],
                    "matched": 1,
                }
            ],
        },
        {
            "traceID": "1af7651916cd43dd8448eb211c80319c",
            "rootTraceName": "<root span not yet received>",
            "startTimeUnixNano": "1777640000002000000",
        },
    ],
    "metrics": {},
    "status": "PARTIAL",
    "message": "a block could not be read",
}


@each_way
def test_tempo_is_asked_in_traceql_and_tells_what_the_spans_of_runs_say(way: Way) -> None:
    drivers, requests = answering(httpx.Response(200, json=FOUND))
    query = Query(service='sh"op', since=START, until=END, limit=5, attributes={"team": "a\\b"})
    listed = way(TempoSource("http://tempo:3200", drivers), query)

    unknown, run = listed.runs
    assert (unknown.trace_id, unknown.name) == (
        "1af7651916cd43dd8448eb211c80319c",
        "<root span not yet received>",
    )
    assert (unknown.run_id, unknown.outcome, unknown.rounds, unknown.cost_usd) == (None,) * 4
    assert (run.trace_id, run.run_id) == ("0af7651916cd43dd8448eb211c80319c", "r1")
    assert (run.name, run.outcome, run.rounds) == ("support", "max_rounds", 3)
    assert (run.started_at, run.duration_ms) == (1777640000001000000, 80.0)
    assert (run.input_tokens, run.output_tokens, run.cost_usd) == (70, None, 0.5)
    assert listed.partial
    assert listed.warnings == ("Tempo gave a part of the trace only: a block could not be read",)

    [request] = requests
    asked = dict(request.url.params)
    conditions, selected = asked.pop("q").split(" | ")
    assert conditions == (
        '{ span.gen_ai.operation.name = "invoke_agent" && resource.service.name = "sh\\"op"'
        ' && span.team = "a\\\\b" }'
    )
    assert selected.startswith("select(span.loopspan.run.id, ")
    assert asked == {"limit": "5", "spss": "20", "start": "1777636800", "end": "1777642201"}


@pytest.mark.parametrize(
    "traces",
    [[{}], [7], [{"traceID": "x"}], [{"traceID": "1a" * 16, "spanSets": [{"spans": [{}]}]}]],
)
def test_a_list_of_tempo_that_is_damaged_is_said(traces: list[Any]) -> None:
    drivers, _ = answering(httpx.Response(200, json={"traces": traces}))
    with pytest.raises(SourceError, match="answered what cannot be read"):
        TempoSource("http://tempo:3200", drivers).search()


def test_an_attribute_that_would_be_more_than_a_name_is_not_asked_for() -> None:
    drivers, requests = answering()
    query = Query(attributes={'a = "b" } || { span.c': "d"})
    with pytest.raises(ConfigurationError, match="is no attribute that Tempo can be asked for"):
        TempoSource("http://tempo:3200", drivers).search(query)
    assert requests == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"limit": 0}, "limit is 0; give 1 to 1000"),
        ({"since": datetime(2026, 5, 1)}, "since is .*, a time without a zone; add one"),  # noqa: DTZ001
        ({"since": END, "until": START}, "which is not before until"),
    ],
)
def test_a_query_that_cannot_be_asked_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Query(**asked)

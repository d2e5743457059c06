"""The source of a real Jaeger gives the run that was recorded, and lists it."""

import secrets
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from loopspan.cli import main
from loopspan.errors import RunNotFound
from loopspan.runs import Run
from loopspan.runs.export import as_otlp_json
from loopspan.runs.sources import FileSource, JaegerSource, Query
from loopspan.runs.sources.summary import summary_of
from loopspan.runs.text.report import as_text
from loopspan.testing import capture
from tests.backends.jaeger_server import Jaeger
from tests.backends.processes import PATIENCE
from tests.backends.test_runs import plain, traced
from tests.runs.generated import Case, cases, made
from tests.runs.sources.recorded import recorded
from tests.runs.sources.shapes import WAYS, Way
from tests.runs.sources.test_equality import sources

pytestmark = pytest.mark.backends


class OwnIds(RandomIdGenerator):
    """Ids that differ in each example: hypothesis seeds the random numbers of the SDK's."""

    def generate_span_id(self) -> int:
        return 1 + secrets.randbelow(2**64 - 1)

    def generate_trace_id(self) -> int:
        return 1 + secrets.randbelow(2**128 - 1)


def exporting(jaeger: Jaeger, provider: TracerProvider) -> None:
    exporter = OTLPSpanExporter(endpoint=f"{jaeger.otlp_http}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    provider.id_generator = OwnIds()


def arrived(jaeger: Jaeger, run: Run, spans: int) -> str:
    """Wait until Jaeger has the spans of a run, and return its trace id."""
    assert run.trace_id is not None
    jaeger.trace(run.trace_id, spans=spans)
    return run.trace_id


@settings(
    max_examples=50,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example waits for Jaeger
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(case=cases, way=st.sampled_from(WAYS))
def test_a_generated_run_is_the_same_from_jaeger_and_everywhere(
    jaeger: Jaeger, case: Case, way: Way
) -> None:
    """What `run()` returned, what `RunTrace` gathered, files, Tempo's answers, a real Jaeger."""
    with capture() as captured, tempfile.TemporaryDirectory() as folder:
        exporting(jaeger, captured.provider)
        run = made(case, captured).run
        captured.provider.force_flush()
        id = arrived(jaeger, run, len(captured.spans))
        everywhere = [JaegerSource(jaeger.query), *sources(captured, Path(folder))]
        told = [way(source, id) for source in everywhere]

    assert captured.run_trace.run(run.run_id) == run
    assert [each.runs for each in told] == [(run,)] * len(everywhere)
    assert {(each.partial, each.warnings) for each in told} == {(False, ())}


@pytest.mark.parametrize("way", WAYS)
def test_a_trace_that_jaeger_does_not_have_is_not_found(jaeger: Jaeger, way: Way) -> None:
    with pytest.raises(RunNotFound, match=f"Jaeger at {jaeger.query} has no trace"):
        way(JaegerSource(jaeger.query), "ab" * 16)


def test_jaeger_lists_the_runs_of_a_service_and_of_all(jaeger: Jaeger) -> None:
    resource = Resource({"service.name": "listed"})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    exporting(jaeger, provider)
    runs = [recorded(provider) for _ in range(2)]
    provider.shutdown()
    for run in runs:
        arrived(jaeger, run, spans=4)
    source = JaegerSource(jaeger.query)
    expected = tuple(summary_of(run) for run in reversed(runs))
    assert source.search(Query(service="listed")).runs == expected
    assert set(expected) <= set(source.search(Query(limit=1000)).runs)
    until = datetime.now(UTC) - timedelta(hours=2)
    assert source.search(Query(service="listed", until=until)).runs == ()


def test_jaeger_takes_an_exported_run_and_gives_it_back(jaeger: Jaeger) -> None:
    """Its page's upload, which turns OTLP JSON into its own form; and its receiver."""
    with capture() as captured:
        captured.provider.id_generator = OwnIds()
        run = recorded(captured.provider)
    document = as_otlp_json(captured.run_trace.spans(run.run_id), service="exported")
    json = {"content-type": "application/json"}

    url = f"{jaeger.query}/api/transform"
    answer = httpx.post(url, content=document, headers=json, trust_env=False, timeout=PATIENCE)
    [trace] = answer.raise_for_status().json()["data"]
    assert trace["traceID"] == run.trace_id
    assert len(trace["spans"]) == 4
    assert {p["serviceName"] for p in trace["processes"].values()} == {"exported"}

    url = f"{jaeger.otlp_http}/v1/traces"
    httpx.post(
        url, content=document, headers=json, trust_env=False, timeout=PATIENCE
    ).raise_for_status()
    assert JaegerSource(jaeger.query).fetch(arrived(jaeger, run, spans=4)).runs == (run,)


def test_what_jaegers_page_downloads_is_the_run_to_the_microsecond(
    jaeger: Jaeger, tmp_path: Path
) -> None:
    with capture() as captured:
        exporting(jaeger, captured.provider)
        run = traced(captured, plain, "full").run
        captured.provider.force_flush()
    id = arrived(jaeger, run, spans=len(captured.spans))
    answer = httpx.get(f"{jaeger.query}/api/traces/{id}", trust_env=False, timeout=PATIENCE)
    path = tmp_path / "downloaded.json"
    path.write_bytes(answer.raise_for_status().content)

    told = FileSource(path).read()
    assert told.warnings == ()
    [downloaded] = told.runs
    assert coarse(downloaded) == coarse(run)
    assert [step.state for step in downloaded.steps].count("error") == 1


def coarse(run: Run) -> dict[str, Any]:
    """A run without its durations, its times in microseconds."""
    told = run.model_dump(exclude={"duration_ms": True, "steps": {"__all__": {"duration_ms"}}})
    for each in (told, *told["steps"]):
        each["started_at"] //= 1000
    return told


def test_a_run_is_shown_by_its_trace_id(jaeger: Jaeger, capsys: pytest.CaptureFixture[str]) -> None:
    with capture() as captured:
        exporting(jaeger, captured.provider)
        run = traced(captured, plain, "full").run
        captured.provider.force_flush()
    id = arrived(jaeger, run, spans=len(captured.spans))
    assert main(["show", id, "--jaeger", jaeger.query]) == 0
    assert capsys.readouterr().out == as_text(run)

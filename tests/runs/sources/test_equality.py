"""A run is the same from each source: this process, files, Jaeger's and Tempo's answers."""

import tempfile
from pathlib import Path

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopspan.runs.sources import (
    FileSource,
    JaegerSource,
    MemorySource,
    Source,
    TempoSource,
)
from loopspan.testing import Captured, capture
from tests.runs.generated import Case, cases, made
from tests.runs.sources.shapes import (
    FILES,
    WAYS,
    Way,
    answering,
    as_jaeger,
    as_tempo_1,
    as_tempo_2,
    as_tempo_protobuf,
)

PROTOBUF = {"content-type": "application/protobuf"}


def sources(captured: Captured, folder: Path) -> list[Source]:
    """One source for each shape, all with the same spans."""
    spans = captured.spans
    found: list[Source] = [MemorySource(captured.run_trace)]
    for shape in FILES:
        path = folder / shape.__name__
        path.write_bytes(shape(spans))
        found.append(FileSource(path))
    gone = httpx.Response(404)
    tempo = (
        [httpx.Response(200, json=as_tempo_2(spans))],
        [gone, httpx.Response(200, json=as_tempo_1(spans))],
        [gone, httpx.Response(200, content=as_tempo_protobuf(spans), headers=PROTOBUF)],
    )
    found.extend(TempoSource("http://tempo:3200", answering(*each)[0]) for each in tempo)
    jaeger = answering(httpx.Response(200, json=as_jaeger(spans)))[0]
    return [*found, JaegerSource("http://jaeger:16686", jaeger)]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases, way=st.sampled_from(WAYS))
def test_a_run_is_the_same_from_each_source(case: Case, way: Way) -> None:
    with capture() as captured, tempfile.TemporaryDirectory() as folder:
        result = made(case, captured)
        run = result.run
        assert run.trace_id is not None

        for source in sources(captured, Path(folder)):
            told = way(source, run.trace_id)
            assert told.runs == (run,)
            assert (told.partial, told.warnings) == (False, ())
            assert len(told.spans) == len(captured.spans)

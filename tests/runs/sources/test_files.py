"""Files: what they may hold, what is said of the lines that cannot be read."""

import asyncio
import gzip
import json
import os
from pathlib import Path

import pytest

from loopspan.errors import RunNotFound, SourceError
from loopspan.runs import Run
from loopspan.runs.sources import FileSource
from loopspan.runs.sources.drivers import Drivers
from loopspan.testing import capture
from tests.runs.sources.recorded import recorded
from tests.runs.sources.shapes import file_lines, file_whole, hex_ids


def test_runs_that_were_written_as_runs_are_read_again(tmp_path: Path) -> None:
    """What `loopspan run --json` writes, and a run by itself."""
    with capture() as captured:
        first, second = recorded(captured.provider), recorded(captured.provider)
    lines = [
        {"event": "step", "step": first.steps[0].model_dump(mode="json")},
        {"event": "text", "round": 1, "text": "A"},
        {"event": "run", "run": first.model_dump(mode="json")},
        second.model_dump(mode="json"),
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    source = FileSource(path)
    assert source.read().runs == asyncio.run(source.aread()).runs == (first, second)
    assert source.fetch(second.run_id).runs == (second,)


def test_a_run_is_found_by_its_own_id_and_by_that_of_its_trace(tmp_path: Path) -> None:
    with capture() as captured:
        first, second = recorded(captured.provider), recorded(captured.provider)
    path = tmp_path / "spans.json"
    path.write_bytes(file_whole(captured.spans))
    source = FileSource(path)
    assert source.read().runs == (first, second)
    for id in (first.run_id, first.trace_id):
        assert id is not None
        told = source.fetch(id)
        assert told.runs == (first,)
        assert {span.trace_id for span in told.spans} == {first.trace_id}
    with pytest.raises(RunNotFound, match="has no run or trace 'x'; it has 2 runs"):
        source.fetch("x")


def test_a_line_that_cannot_be_read_is_said_and_left_out(tmp_path: Path) -> None:
    """A file that is still being written ends in the middle of a line."""
    with capture() as captured:
        recorded(captured.provider)
    data = file_lines(captured.spans)
    path = tmp_path / "spans.jsonl"
    path.write_bytes(b'{"a": 1}\n\n' + data.rstrip()[:-5])
    told = FileSource(path).read()
    assert len(told.runs) == 1
    assert len(told.spans) == len(captured.spans)  # the line that breaks off repeats the first
    first, last = told.warnings
    assert first.startswith("line 1 was left out: this JSON has no 'resourceSpans'")
    assert last.startswith("line 7 was left out: ")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cannot be read: "),
        (b"hello\nworld\n", "cannot be read: "),
        (b"[1, 2]", "expected an OTLP JSON object, got list"),
        (b'{"a": 1}\n{"b": 2}', "cannot be read: line 1: this JSON has no 'resourceSpans'"),
        (b'{"data": [{"spans": [{"spanID": "1"}]}]}', "a span of this Jaeger JSON is damaged"),
        (b'{"data": [3]}', "a span of this Jaeger JSON is damaged"),
        (b'{"run_id": "r", "steps": 1}', "this run cannot be read: "),
        (b"\x1f\x8b\x08nonsense", "no gzip that can be read"),
        (gzip.compress(os.urandom(500))[:300], "its gzip breaks off"),
        (gzip.compress(b"x" * 100_000), "unzipped it is larger than 10,000 bytes"),
        (gzip.compress(b"x" * 6_000) * 2, "unzipped it is larger than 10,000 bytes"),
        (b"x" * 10_001, "is larger than 10,000 bytes"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=said) as raised:
        FileSource(path, Drivers(max_bytes=10_000)).read()
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    source = FileSource(tmp_path / "gone.json")
    with pytest.raises(SourceError, match=r"gone.json' cannot be read: No such file or directory"):
        source.read()
    with pytest.raises(SourceError, match="Is a directory"):
        asyncio.run(FileSource(tmp_path).aread())


def test_a_span_that_comes_twice_counts_once_as_it_ended(tmp_path: Path) -> None:
    with capture() as captured:
        run: Run = recorded(captured.provider)
    whole = hex_ids(captured.spans)
    still_open = hex_ids(captured.spans)
    for resource in still_open:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                del span["endTimeUnixNano"]
    path = tmp_path / "spans.jsonl"
    for documents in ((still_open, whole, whole), (whole, still_open)):
        lines = (json.dumps({"resourceSpans": each}) for each in documents)
        path.write_text("\n".join(lines))
        assert FileSource(path).read().runs == (run,)

"""BE-06: content goes to the chosen place and no other, and every place is read as the same run."""

import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from loopspan import PolicyExporter, RunResult, ToolOptions, tool
from loopspan.runs import Run, read_runs
from loopspan.runs.export import as_otlp_json
from loopspan.runs.otlp import spans as otlp_spans
from loopspan.runs.sources import FileSource
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content
from loopspan.telemetry.placing import Place
from loopspan.telemetry.store import ContentStore, DirectoryStore
from loopspan.testing import Captured, ScriptedModel, calls, capture
from tests.loop.ways import loop_of
from tests.telemetry.sinks import Sink

WORD = "xylophone"


def made(captured: Captured) -> RunResult:
    """A run with the word in everything that is content."""

    @tool
    def look(at: str) -> str:
        """Look at the xylophone."""
        return f"a {WORD}"

    @tool
    def fail(at: str) -> str:
        """Fail."""
        raise ValueError(WORD)

    model = ScriptedModel([calls("look", at=WORD), calls("fail", at=WORD), f"A {WORD}."])
    loop = loop_of(model, [look, fail], captured, content="full")
    return loop.run(f"What is a {WORD}?", options=ToolOptions().with_capture_raw())


def sent(captured: Captured, place: Place, content: Content = "full") -> list[ReadableSpan]:
    sink = Sink()
    PolicyExporter(sink, content=content, place=place).export(captured.spans)
    return sink.got


def read(spans: list[ReadableSpan], store: ContentStore | None = None) -> Run:
    [run] = read_runs(otlp_spans(MessageToDict(encode_spans(spans))), store)
    return run


def attribute_texts(spans: list[ReadableSpan]) -> str:
    return "".join(str(dict(span.attributes or {})) for span in spans)


def everything(spans: list[ReadableSpan]) -> str:
    return "".join(span.to_json() for span in spans)


def test_be_06_on_the_span() -> None:
    with capture() as captured:
        result = made(captured)
    spans = sent(captured, "attributes")
    assert WORD in attribute_texts(spans)
    assert read(spans) == result.run


def test_be_06_in_an_event() -> None:
    with capture() as captured:
        result = made(captured)
    spans = sent(captured, "event")
    assert WORD not in attribute_texts(spans)
    told = {(span.name, event.name) for span in spans for event in span.events}
    assert ("chat scripted-1", names.DETAILS_EVENT) in told
    assert ("execute_tool look", names.CONTENT_EVENT) in told
    assert read(spans) == result.run


def test_be_06_in_a_store(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "content")
    with capture() as captured:
        result = made(captured)
    spans = sent(captured, store)
    assert WORD not in everything(spans)
    assert read(spans, store) == result.run
    assert WORD not in read(spans).model_dump_json()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == len(captured.spans) - 1  # the run's own span has no content
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in files} == {0o600}


def test_be_06_nowhere() -> None:
    with capture() as captured:
        made(captured)
    for place in ("attributes", "event"):
        spans = sent(captured, place, "off")
        assert WORD not in everything(spans)
        assert read(spans).rounds == 3


def test_what_others_see_stays_whole(tmp_path: Path) -> None:
    with capture() as captured:
        result = made(captured)
    sent(captured, DirectoryStore(tmp_path))
    sent(captured, "event")
    assert read(captured.spans) == result.run == captured.run_trace.run(result.run_id)


class Broken:
    def put(self, key: str, content: Mapping[str, Any]) -> None:
        raise OSError(f"no room for {content}")

    def get(self, key: str) -> Mapping[str, Any] | None:
        return None


def test_what_cannot_be_stored_goes_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    with capture() as captured:
        made(captured)
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        spans = sent(captured, Broken())
    assert WORD not in everything(spans)
    assert WORD not in caplog.text
    assert "the content of a span could not be stored: OSError" in caplog.text
    assert read(spans).outcome == "completed"


def test_the_store_of_the_environment_is_read_by_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DirectoryStore(tmp_path / "content")
    with capture() as captured:
        result = made(captured)
    records = otlp_spans(MessageToDict(encode_spans(sent(captured, store))))
    file = tmp_path / "spans.json"
    file.write_bytes(as_otlp_json(records))
    [bare] = FileSource(file).fetch(result.run_id).runs
    assert bare.content is None
    monkeypatch.setenv("LOOPSPAN_CONTENT_STORE", str(tmp_path / "content"))
    [run] = FileSource(file).fetch(result.run_id).runs
    assert run.content == result.content


@pytest.mark.parametrize("key", ["../../etc/passwd", "a-b", "", f"{'0' * 32}-{'g' * 16}"])
def test_a_key_is_no_path(tmp_path: Path, key: str) -> None:
    store = DirectoryStore(tmp_path)
    assert store.get(key) is None
    with pytest.raises(ValueError, match="is no key"):
        store.put(key, {})


def test_a_damaged_file_counts_as_not_there(tmp_path: Path) -> None:
    store, key = DirectoryStore(tmp_path), f"{'0' * 32}-{'1' * 16}"
    assert store.get(key) is None
    store.put(key, {"a": "é"})
    assert store.get(key) == {"a": "é"}
    for damage in (b"{", b"[]"):
        (tmp_path / ("0" * 32) / f"{'1' * 16}.json").write_bytes(damage)
        assert store.get(key) is None

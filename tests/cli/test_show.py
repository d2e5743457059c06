"""`loopspan show`: a run from a file, from standard input, from Jaeger, from Tempo."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopspan.cli import main
from loopspan.runs import Run
from loopspan.runs.export import as_ndjson, as_otlp_json
from loopspan.runs.text.report import as_text
from loopspan.testing import Captured, capture
from tests.cli.command import COMMAND, PATIENCE, in_terminal, objects
from tests.runs.sources.recorded import recorded
from tests.runs.sources.served import serving
from tests.runs.sources.shapes import as_jaeger, as_tempo_2

Out = pytest.CaptureFixture[str]
ID = "0af7651916cd43dd8448eb211c80319c"
NONE = b'{"error": {"httpCode": 404, "message": "trace not found"}}'


@pytest.fixture
def captured() -> Iterator[Captured]:
    with capture() as captured:
        yield captured


@pytest.fixture
def run(captured: Captured) -> Run:
    return recorded(captured.provider, "It is a \x1b[31mthing\u202e.")


@pytest.fixture
def file(captured: Captured, run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_bytes(as_otlp_json(captured.run_trace.spans(run.run_id)))
    return path


def test_a_run_of_a_file(run: Run, file: Path, capsys: Out) -> None:
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (as_text(run), "")
    assert r"It is a \x1b[31mthing\u202e." in shown.out
    assert "\x1b" not in shown.out


def test_a_run_as_json_is_the_line_that_run_prints(run: Run, file: Path, capsys: Out) -> None:
    assert main(["show", str(file), "--json"]) == 0
    out = capsys.readouterr().out
    assert objects(out) == [{"event": "run", "run": run.model_dump(mode="json")}]
    assert not {"\x1b", "\u202e"} & set(out)


def test_what_run_prints_is_shown_from_standard_input(run: Run) -> None:
    lines = b"".join(as_ndjson(run))
    command = [*COMMAND, "show", "-"]
    done = subprocess.run(command, input=lines, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == as_text(run)


def test_all_runs_of_a_file_are_shown_and_what_was_left_out_is_said(
    captured: Captured, run: Run, file: Path, capsys: Out
) -> None:
    other = recorded(captured.provider)
    more = as_otlp_json(captured.run_trace.spans(other.run_id))
    file.write_bytes(file.read_bytes() + b"\n" + more + b'\n{"broken')
    assert main(["show", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.index(f"Run {run.run_id}") < out.index(f"\n\nRun {other.run_id}")
    assert out.count("warning    line 3 was left out") == 2

    assert main(["show", str(file), "--json"]) == 0
    shown = capsys.readouterr()
    assert [each["run"]["run_id"] for each in objects(shown.out)] == [run.run_id, other.run_id]
    assert shown.err.startswith("warning: line 3 was left out")


def test_a_run_in_a_terminal_is_drawn(file: Path) -> None:
    code, written = in_terminal(["show", str(file)], columns=60)
    assert code == 0
    text = written.decode()
    assert "\x1b[1;36m" in text  # its own colours
    assert r"\x1b[31mthing\u202e" in text
    assert "\u202e" not in text
    assert "\x1b[31mthing" not in text


@pytest.mark.parametrize("way", ["option", "environment"])
@pytest.mark.parametrize("backend", ["jaeger", "tempo"])
def test_a_trace_of_a_backend(
    captured: Captured,
    run: Run,
    backend: str,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Out,
) -> None:
    shape = {"jaeger": as_jaeger, "tempo": as_tempo_2}[backend]
    body = json.dumps(shape(captured.spans)).encode()
    assert run.trace_id is not None
    with serving(200, body) as served:
        option = [f"--{backend}", served.url]
        if way == "environment":
            monkeypatch.setenv(f"LOOPSPAN_{backend.upper()}_URL", served.url)
            option = []
        assert main(["show", run.trace_id, *option]) == 0
    assert capsys.readouterr().out == as_text(run)
    version = {"jaeger": 3, "tempo": 2}[backend]
    assert served.paths[0].partition("?")[0] == f"/api/v{version}/traces/{run.trace_id}"


def test_the_second_backend_is_asked_for_what_the_first_does_not_have(
    captured: Captured, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    body = json.dumps(as_tempo_2(captured.spans)).encode()
    with serving(404, NONE) as jaeger, serving(200, body) as tempo:
        monkeypatch.setenv("LOOPSPAN_JAEGER_URL", jaeger.url)
        monkeypatch.setenv("LOOPSPAN_TEMPO_URL", tempo.url)
        assert main(["show", ID]) == 0
    shown = capsys.readouterr()
    assert shown.out == as_text(run)
    assert shown.err == f"note: Jaeger at {jaeger.url} has no trace {ID}\n"


def test_headers_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.setenv("LOOPSPAN_TEMPO_HEADERS", "X-Scope-OrgID=team-a, Authorization=Basic%20a=")
    with serving(401) as served:
        assert main(["show", ID, "--tempo", served.url]) == 1
    [headers] = served.headers
    assert (headers["X-Scope-OrgID"], headers["Authorization"]) == ("team-a", "Basic a=")
    assert "asks for a login" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["s3cret", "=s3cret", "a=b,s3cret", "a=s3cret%0A"])
def test_wrong_headers_are_refused_without_their_values(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setenv("LOOPSPAN_JAEGER_HEADERS", value)
    assert main(["show", ID, "--jaeger", "http://127.0.0.1:1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["gone.json"], 2, "there is no file 'gone.json', and it is no trace id; give a path"),
        ([ID], 2, "no backend is named to ask for such a trace; pass --jaeger URL or --tempo URL"),
        (["x", "--jaeger", "http://127.0.0.1:1"], 2, "'x' is no trace id; give its 32 hex digits"),
        ([ID, "--jaeger", "127.0.0.1:1"], 2, "'127.0.0.1:1' is no address of Jaeger; give one"),
        ([ID, "--jaeger", "http://a", "--tempo", "http://b"], 2, "both --jaeger and --tempo"),
        ([ID, "--tempo", "http://127.0.0.1:1"], 1, "cannot be reached "),
        (["/"], 1, "'/' cannot be read: Is a directory; check the path"),
    ],
)
def test_what_cannot_be_shown_is_said(
    arguments: list[str], code: int, said: str, capsys: Out
) -> None:
    assert main(["show", *arguments]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert said in shown.err


def test_a_trace_that_is_not_there_and_one_without_a_run_are_said(
    tmp_path: Path, capsys: Out
) -> None:
    with serving(404, NONE) as served:
        assert main(["show", ID, "--jaeger", served.url]) == 1
    assert f"Jaeger at {served.url} has no trace {ID}; check the id" in capsys.readouterr().err
    path = tmp_path / "other.json"
    path.write_text('{"resourceSpans": []}')
    assert main(["show", str(path)]) == 1
    assert "has 0 spans, none of them of a run; " in capsys.readouterr().err

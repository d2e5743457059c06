"""How the command ends when its user, its reader or its disk ends it."""

import signal
import subprocess
import threading
from pathlib import Path

import pytest

from loopspan.cli import main
from loopspan.testing import message
from tests.cli.command import COMMAND, PATIENCE, after, loopspan, objects, once, scripted, started

ASKING = message(tool_calls=[("current_time", {})])


def test_ctrl_c_ends_the_run_as_cancelled_and_tells_it() -> None:
    with (
        scripted(ASKING, after(30, "late")) as (_, to_it),
        started("run", "x", *to_it, "--json") as process,
    ):
        assert process.stdout is not None
        head = b"".join(process.stdout.readline() for _ in range(5))
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=PATIENCE)
    *_, request, chat, last = objects(head + rest)
    assert process.returncode == 130
    assert err == b""
    assert (request["step"]["kind"], request["step"]["round"]) == ("request", 2)
    assert (chat["step"]["kind"], chat["step"]["state"]) == ("chat", "cancelled")
    assert last["run"]["outcome"] == "cancelled"
    assert last["run"]["duration_ms"] < 30_000


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_broken_pipe_ends_the_run_quietly(options: list[str]) -> None:
    closed = threading.Event()
    with (
        scripted(once(closed, ASKING), "late") as (model, to_it),
        started("run", "x", *to_it, *options) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        closed.set()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 141
    assert len(model.requests) == 1


def test_a_full_disk_is_said_once() -> None:
    with scripted("yes") as (model, to_it), open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [*COMMAND, "run", "x", *to_it], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE
        )
    assert ran.returncode == 1
    assert ran.stderr == (
        b"error: the output cannot be written: [Errno 28] No space left on device; "
        b"check where it goes\n"
    )
    assert model.requests == []


def test_an_error_of_loopspan_itself_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("unheard of")

    monkeypatch.setattr("loopspan.cli.app.run", fail)
    assert main(["run", "x"]) == 1
    assert "loopspan itself failed (RuntimeError: unheard of)" in capsys.readouterr().err


def test_an_error_of_a_view_ends_the_run_and_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("cannot draw")

    monkeypatch.setattr("loopspan.cli.plain.PlainView.step", fail)
    with scripted("yes") as (model, to_it):
        assert main(["run", "x", *to_it]) == 1
    assert "RuntimeError: cannot draw" in capsys.readouterr().err
    assert model.requests == []


def test_a_narrow_encoding_does_not_end_the_run() -> None:
    with scripted("日本 →", "日本 →") as (_, to_it):
        plain = loopspan("run", "x", *to_it, env={"PYTHONIOENCODING": "ascii"})
        json = loopspan("run", "x", *to_it, "--json", env={"PYTHONIOENCODING": "ascii"})
    assert (plain.code, plain.err) == (0, "")
    assert "  ?? ?\n" in plain.out
    assert objects(json.out)[-1]["run"]["content"] == "日本 →"


def test_logs_are_lines_without_tracebacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logging_tools.py").write_text(
        "import logging\nfrom loopspan import tool\n\n@tool\ndef fail() -> str:\n    'Fail.'\n"
        "    try:\n        1 / 0\n    except ZeroDivisionError:\n"
        "        logging.getLogger('mine').exception('cannot divide')\n"
        "    raise ValueError('no more')\n"
    )
    monkeypatch.chdir(tmp_path)
    with scripted(message(tool_calls=[("fail", {})]), "sorry") as (_, to_it):
        ended = loopspan("run", "x", *to_it, "--tools", "logging_tools")
    assert ended.code == 0
    assert ended.err == "error: mine: cannot divide (ZeroDivisionError)\n"
    assert "  error      ValueError: no more\n" in ended.out

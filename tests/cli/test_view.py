"""The live view, in real terminals."""

import re
import threading
from pathlib import Path

import httpx
import pytest

from loopspan.testing import message
from tests.cli.command import after, in_terminal, once, scripted

CODE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7]|38|48)[;m]")
ASKING = message("I look.", tool_calls=[("python_information", {})], reasoning_content="Hm.")


def last_lines(written: bytes) -> list[str]:
    """What stands on the screen in the end, as far as lines were not moved up over."""
    lines = CODE.sub(b"", written).decode().replace("\r\n", "\n").split("\n")
    return [line.rpartition("\r")[2].rstrip() for line in lines]


def test_a_run_in_a_terminal() -> None:
    seen, clock = threading.Event(), rb"waiting for gpt-4o-mini.*?\d\.[1-9] s"
    with scripted(once(seen, ASKING), "It is *3*.") as (_, to_it):
        code, written = in_terminal(["run", "Which Python?", *to_it], at={clock: seen.set})
    lines = last_lines(written)
    assert code == 0
    assert re.search(clock, written)
    assert COLOUR.search(written)
    assert "Round 1  openai gpt-4o-mini" in lines
    assert "  user       Which Python?" in lines
    assert "  thinking   Hm." in lines
    assert "  → python_information()" in lines
    assert "  It is *3*." in lines
    assert "waiting" not in "".join(lines)
    assert any(
        line.startswith("Answered   rounds 2/5   tool calls 1   tokens 30") for line in lines
    )
    assert written.count(b"\x1b[?25l") == written.count(b"\x1b[?25h") == 1  # the cursor is back


def test_no_color_takes_the_colours_and_nothing_else() -> None:
    with scripted(ASKING, "yes") as (_, to_it):
        code, written = in_terminal(["run", "x", *to_it], env={"NO_COLOR": "1"})
    assert code == 0
    assert COLOUR.findall(written) == []
    assert "  thinking   Hm." in last_lines(written)


def test_a_dumb_terminal_gets_plain_lines() -> None:
    with scripted("yes") as (_, to_it):
        code, written = in_terminal(["run", "x", *to_it], env={"TERM": "dumb"})
    assert code == 0
    assert CODE.findall(written) == []
    assert b"\r\nAnswered\r\n  rounds     1/5\r\n" in written


def test_an_answer_is_drawn_while_it_arrives() -> None:
    answer = message("one two three four five six", reasoning_content="Hm, counting.")
    thought, begun = threading.Event(), threading.Event()
    at = {b"Hm, counting\\.": thought.set, b"one two three fo": begun.set}
    with scripted(answer, held={b"one two": thought, b"ur five ": begun}) as (_, to_it):
        _, written = in_terminal(["run", "x", *to_it, "--no-tools", "--stream"], at=at)
    meanwhile, _, end = written.partition(b"Reply")
    assert b"\x1b[2;3mHm, counting." in meanwhile
    assert b"one two three fo" in meanwhile
    assert b"five six" not in meanwhile.partition(b"one two three fo")[0]
    assert "  one two three four five six" in last_lines(end)


def test_the_tool_that_runs_has_a_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow_tools.py").write_text(
        "import os\nimport time\nfrom loopspan import tool\n\n"
        "def until(name: str) -> None:\n"
        "    while not os.path.exists(name):\n        time.sleep(0.01)\n\n"
        "@tool\ndef nap() -> str:\n    'Sleep.'\n"
        "    until('clock')\n    print('good night')\n    until('night')\n    return 'awake'\n"
    )
    clock = rb"nap\(\).*?\d\.[1-9] s"
    at = {clock: Path("clock").touch, b"good night": Path("night").touch}
    with scripted(message(tool_calls=[("nap", {})]), "yes") as (_, to_it):
        _, written = in_terminal(["run", "x", *to_it, "--tools", "slow_tools"], at=at)
    assert re.search(clock, written)
    lines = last_lines(written)
    assert "good night" in lines
    assert "  awake" in lines
    left = [line for line in lines if "nap()" in line and re.search(r"\d\.\d s", line)]
    assert [line for line in left if "Tool" not in line] == []


def test_text_wraps_below_itself() -> None:
    with scripted("word " * 20) as (_, to_it):
        _, written = in_terminal(["run", "long " * 20, *to_it, "--no-tools"], columns=60)
    lines = last_lines(written)
    assert max(map(len, lines)) <= 60
    assert "             long long long long long long long long long" in lines
    assert "  word word word word word word word word word" in lines


def test_text_of_the_model_cannot_steer_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e[red]x[/red] :boom:"
    asking = message(hostile, tool_calls=[("nope", {"a": hostile})], reasoning_content=hostile)
    with scripted(asking, hostile, pause=0.12) as (_, to_it):
        _, written = in_terminal(["run", hostile, *to_it, "--stream"])
    rest = CODE.sub(b"", written).decode()
    assert {char for char in rest if not char.isprintable()} <= {"\r", "\n"}
    assert b"\x1b[2J" not in written
    shown = r"\x1b[2J\x1b]0;owned\x07\x9b31m\u202e[red]x[/red] :boom:"
    assert f"  {shown}" in last_lines(written)


def test_ctrl_c_gives_the_terminal_back() -> None:
    with scripted(after(30, "late")) as (_, to_it):
        code, written = in_terminal(["run", "x", *to_it], interrupt_at=b"waiting for")
    lines = last_lines(written)
    assert code == 130
    assert written.endswith(b"\r\n")
    assert written.count(b"\x1b[?25l") == written.count(b"\x1b[?25h") == 1
    assert any(line.startswith("No reply  stopped after ") for line in lines)
    assert "  error      cancelled" not in lines
    assert any(line.startswith("Interrupted   rounds 1/5") for line in lines)


def test_the_sentence_of_an_error_stands_once_in_a_terminal() -> None:
    refusal = httpx.Response(400, json={"error": {"message": "too odd", "code": "odd"}})
    with scripted(refusal) as (_, to_it):
        code, written = in_terminal(["run", "x", *to_it])
    assert code == 1
    assert written.count(b"too odd") == 1
    assert any(
        line.startswith("error: openai answered 400 (odd): ") for line in last_lines(written)
    )


def test_check_in_a_terminal() -> None:
    code, written = in_terminal(["check"], columns=200)
    assert code == 0
    assert COLOUR.search(written)
    assert "Everything that is configured works" in last_lines(written)

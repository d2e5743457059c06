"""The life of the local model's server: when it starts, and when it ends."""

import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from loopspan import (
    ConnectionFailed,
    RetryPolicy,
    TextDelta,
    ToolLoop,
    ToolOptions,
)
from loopspan.cli.playground import PlaygroundSettings, catalogue_of
from loopspan.local import start, stop
from loopspan.testing import Captured
from tests.backends.local_loop import LONG, SHORT, TALE, local_loop, only_run

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("local_server")]


def kill_in_mid_answer(loop: ToolLoop) -> None:
    pid = start().process.pid
    with loop.stream(TALE, options=ToolOptions(parameters=LONG)) as stream:
        for event in stream:
            if isinstance(event, TextDelta) and pid:
                os.kill(pid, signal.SIGKILL)
                pid = 0


def test_a_server_that_is_killed_in_mid_answer_and_gone(captured: Captured) -> None:
    loop = local_loop(captured, retry=RetryPolicy(attempts=1))
    with pytest.raises(ConnectionFailed):
        kill_in_mid_answer(loop)
    run = only_run(captured)
    assert run.outcome == "error"
    assert run.steps[-1].state == "error"
    with pytest.raises(ConnectionFailed):
        loop.run("Hello", options=ToolOptions(parameters=SHORT))
    again = local_loop(captured).run("Hello", options=ToolOptions(parameters=SHORT))
    assert again.content


def gone(pid: int) -> bool:
    """Whether this process, which is no child of ours, ends."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 30)[0])
    finally:
        os.close(watched)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_that_is_killed_leaves_no_server(how: signal.Signals) -> None:
    source = "from loopspan.local import start; print(start().process.pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout
        pid = int(program.stdout.readline())
        program.send_signal(how)
        assert gone(pid)


def test_the_playground_offers_it_when_it_is_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    stop()
    offered = catalogue_of(PlaygroundSettings(local_model=True)).current().configurations
    assert offered["local"].model == "local:"
    assert "note: the local model is ready after " in capsys.readouterr().err
    assert "local" not in catalogue_of(PlaygroundSettings()).current().configurations


def test_threads_that_ask_first_start_one_server() -> None:
    stop()
    started: list[int] = []
    threads = [
        threading.Thread(target=lambda: started.append(start().process.pid)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == 4
    assert len(set(started)) == 1


def test_what_happens_is_told_while_it_starts() -> None:
    stop()
    told: list[str] = []
    start(told.append)
    assert told[0] == "starting the local model smollm2-135m-instruct …"
    assert told[1].startswith("the local model is ready after ")
    start(told.append)
    assert len(told) == 2

"""Servers with several processes: each has its own runs, whole, and exports them all."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.telemetry.export.receivers import Receiver, always, receiving

ROOT = Path(__file__).parents[2]
RUNS = 10
PATIENCE = 120.0
SERVERS = {
    "gunicorn": ["gunicorn", "--preload", "--workers=2", "tests.runs.served:preloaded"],
    "uvicorn": ["uvicorn", "--workers=2", "tests.runs.served:app"],
}


@contextmanager
def serving(name: str, receiver: Receiver) -> Iterator[str]:
    """A server of two processes on a port that is listened on before it starts."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        listening.set_inheritable(True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "LOOPSPAN_"))}
        env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "PYTHONPATH": str(ROOT)}
        bind = {
            "gunicorn": [f"--bind=fd://{listening.fileno()}", "--graceful-timeout=20"],
            "uvicorn": [f"--fd={listening.fileno()}"],
        }[name]
        process = subprocess.Popen(
            [sys.executable, "-m", *SERVERS[name], *bind],
            env=env,
            cwd=ROOT,
            pass_fds=[listening.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            process.terminate()
            _, said = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in said


def until_both_have(url: str, runs: int) -> dict[int, list[Any]]:
    """Ask for runs until each of the two processes has made so many; what each one tells."""
    seen: dict[int, list[Any]] = {}
    deadline = time.monotonic() + PATIENCE  # one of the two may begin seconds after the other
    while time.monotonic() < deadline:
        enough = len(seen) == 2 and min(map(len, seen.values())) >= runs
        if enough:
            return seen
        # Where one process has enough, the other is found by looking, which makes no run.
        path = "/run" if not seen or min(map(len, seen.values())) < runs else "/"
        told = httpx.get(url + path, timeout=PATIENCE).json()
        seen[told["pid"]] = told["runs"]
    raise AssertionError(f"one of the processes answers too seldom: {seen}")


@pytest.mark.parametrize("name", SERVERS)
def test_rc_04_each_process_has_its_own_runs_and_exports_them(name: str) -> None:
    with receiving(always()) as receiver, serving(name, receiver) as url:
        seen = until_both_have(url, RUNS)
    made = {run_id for runs in seen.values() for run_id, _, _ in runs}
    assert all(len(runs) >= RUNS for runs in seen.values())
    assert sum(map(len, seen.values())) == len(made)  # no run is seen by both
    told = {(outcome, steps) for runs in seen.values() for _, outcome, steps in runs}
    assert told == {("completed", 5)}
    exported = [
        pair.value.string_value
        for span in receiver.accepted
        for pair in span.attributes
        if pair.key == "loopspan.run.id"
    ]
    assert {run_id: exported.count(run_id) for run_id in made} == dict.fromkeys(made, 4)

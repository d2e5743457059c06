"""One endpoint per process: started once, its own after a fork, gone without a word at exit."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loopspan.demo.endpoint import Endpoint, endpoint, stop

FORK = """
import os, sys, threading
from loopspan import ToolLoop
from loopspan.demo import endpoint as process

loop = ToolLoop("demo:")
before = process.endpoint()
{meanwhile}
child = os.fork()
if child == 0:
    answer = loop.run("Hello").content
    mine = process.endpoint()
    assert mine.base_url != before.base_url
    assert mine.token != before.token
    assert answer.startswith("This is demo-1"), answer
    {leave}
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert process.endpoint() is before
assert loop.run("Hello").content.startswith("This is demo-1")
"""
HELD = """
process._process._lock.acquire()
threading.Timer(0.5, process._process._lock.release).start()
"""
LEFT = """
import httpx
from loopspan import ToolLoop
from loopspan.demo.endpoint import endpoint

loop = ToolLoop("demo:")
loop.run("Hello")
stream = loop.stream("slowly")
next(iter(stream.__enter__()))
connection = httpx.Client(trust_env=False)
connection.get(endpoint().base_url)
# A socket that the program itself leaves open is its own business.
stream.__exit__(None, None, None)
connection.close()
{end}
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    # Python 3.12 warns of every fork of a process that has threads.
    options = ["-X", "dev", "-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_many_threads_start_one_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    stop()
    started: list[Endpoint] = []
    begin = Endpoint.__init__

    def counted(self: Endpoint) -> None:
        started.append(self)
        begin(self)

    monkeypatch.setattr(Endpoint, "__init__", counted)
    together = threading.Barrier(20)

    def first() -> Endpoint:
        together.wait()
        return endpoint()

    with ThreadPoolExecutor(20) as threads:
        found = {future.result() for future in [threads.submit(first) for _ in range(20)]}
    assert len(found) == len(started) == 1


def test_import_starts_nothing() -> None:
    code = """
import threading, loopspan.demo
from loopspan.demo.endpoint import _process
assert threading.active_count() == 1 and _process._endpoint is None
"""
    done = run(code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("meanwhile", ["", HELD], ids=["idle", "lock-held"])
@pytest.mark.parametrize("leave", ["os._exit(0)", "sys.exit(0)"])
def test_child_of_a_fork_has_its_own(meanwhile: str, leave: str) -> None:
    done = run(FORK.format(meanwhile=meanwhile, leave=leave))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)", "del loop"])
def test_exit_is_silent(end: str) -> None:
    done = run(LEFT.format(end=end))
    assert (done.returncode, done.stderr) == (0, "")

"""Start a real program for the tests, wait until it answers, and stop it again."""

import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx

POLL_SECONDS = 0.05
PATIENCE = 90.0
"""How many seconds a backend may take for anything on a busy machine."""
STOP_SECONDS = 10.0
TAIL_BYTES = 4000


class ProgramError(RuntimeError):
    """A program did not become ready, or ended before it was stopped."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on at the moment."""
    return free_ports(1)[0]


def free_ports(count: int) -> tuple[int, ...]:
    """Different ports of 127.0.0.1 that nobody listens on at the moment."""
    with ExitStack() as stack:
        # All are held until the last is found: one given back early could be handed out again.
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in sockets)


@contextmanager
def running(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    ready: str,
    log: Path,
    timeout: float = PATIENCE,
) -> Iterator[None]:
    """Run the program while the block runs, entered once `ready` answers 200.

    The program sees the variables of `env` and no others; what it prints goes to `log`.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_ready(process, ready, log, timeout)
        yield
        if process.poll() is not None:
            raise ProgramError(failure(process, "ended before it was stopped", log))
    finally:
        stop(process)


def wait_until_ready(
    process: subprocess.Popen[bytes], ready: str, log: Path, timeout: float
) -> None:
    """Poll the URL until it answers 200, while the process lives and there is time."""
    deadline = time.monotonic() + timeout
    while not answers(ready):
        if time.monotonic() > deadline:
            raise ProgramError(failure(process, f"not ready at {ready} after {timeout} s", log))
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_SECONDS)
            raise ProgramError(failure(process, f"ended before it was ready at {ready}", log))


def answers(url: str) -> bool:
    """Whether the URL answers 200 now."""
    try:
        return httpx.get(url, trust_env=False, timeout=POLL_SECONDS * 20).status_code == 200
    except httpx.TransportError:
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the process to end, and kill it if it does not."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def failure(process: subprocess.Popen[bytes], what: str, log: Path) -> str:
    """Say which program failed, how, and the end of what it printed."""
    tail = log.read_bytes()[-TAIL_BYTES:].decode(errors="replace")
    code = f"exit code {process.returncode}" if process.returncode is not None else "still running"
    return f"{process.args!r} {what} ({code}); the end of {log}:\n{tail}"

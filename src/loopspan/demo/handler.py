"""HTTP between the endpoint and its clients."""

from __future__ import annotations

import hashlib
import hmac
import time
import uuid
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from loopspan.demo.completions import chunks, completion
from loopspan.demo.failures import Failure
from loopspan.demo.model import answer
from loopspan.demo.requests import MODEL, read
from loopspan.jsontext import dump

if TYPE_CHECKING:
    from loopspan.demo.endpoint import Server

COMPLETIONS = "/v1/chat/completions"
MODELS = "/v1/models"
_ONE_MODEL = f"{MODELS}/{MODEL}"
_METHODS = {COMPLETIONS: "POST", MODELS: "GET", _ONE_MODEL: "GET"}
_LARGEST_BODY = 64 * 1024 * 1024
_PAUSE = 0.05
"""Seconds before each piece of an answer that is to take its time."""
_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": "loopspan"}


class Handler(BaseHTTPRequestHandler):
    """The requests of one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "loopspan-demo"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = 60.0
    """Seconds that a client may be silent."""

    def do_GET(self) -> None:
        """Tell which models there are."""
        self._serve()

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the program's output is not ours."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no HTTP as we speak it in the API's own form."""
        self.close_connection = True
        self._fail(Failure(code, message or HTTPStatus(code).phrase))

    def _serve(self) -> None:
        try:
            self._respond(self._body())
        except Failure as failure:
            self._fail(failure)

    def _respond(self, content: bytes) -> None:
        self._check_token()
        path = urlsplit(self.path).path
        method = _METHODS.get(path)
        if method is None:
            raise Failure(404, f"Invalid URL ({self.command} {path}).")
        if method != self.command:
            said = f"Not allowed to {self.command} on {path}; use {method}."
            raise Failure(405, said, "method_not_supported", headers={"allow": method})
        if path == COMPLETIONS:
            self._complete(content)
        else:
            listed = {"object": "list", "data": [_MODEL]}
            self._send(200, listed if path == MODELS else _MODEL)

    def _check_token(self) -> None:
        given = self.headers.get("authorization", "").encode("utf-8", "replace")
        expected = f"Bearer {self.server.token.reveal()}".encode()
        if not hmac.compare_digest(given, expected):
            raise Failure(
                401,
                "Incorrect API key provided; `demo:` knows the right one by itself.",
                "invalid_api_key",
                headers={"www-authenticate": "Bearer"},
            )

    def _body(self) -> bytes:
        length = self.headers.get("content-length") or "0"
        if "transfer-encoding" in self.headers:
            self.close_connection = True
            raise Failure(411, "Send the body with a Content-Length.")
        if not length.isdecimal() or len(length) > 12 or int(length) > _LARGEST_BODY:
            self.close_connection = True
            raise Failure(413, f"A body may have {_LARGEST_BODY} bytes at most.")
        return self.rfile.read(int(length))

    def _complete(self, content: bytes) -> None:
        request = read(content)
        try:
            said = answer(request)
        except Failure as failure:
            if not failure.once or self.server.is_first(hashlib.sha256(content).digest()):
                raise
            said = answer(request, may_fail=False)
        body = completion(request, said, int(time.time()))
        pause = _PAUSE if said.slowly else 0.0
        options = request.stream_options
        pieces = chunks(body, include_usage=options is not None and options.include_usage)
        if not request.stream:
            self.server.wait(pause * sum(1 for _ in pieces))
            self._send(200, body)
            return
        self._start(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for piece in pieces:
            self.server.wait(pause)
            self._send_event(dump(piece))
        self._send_event(b"[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _fail(self, failure: Failure) -> None:
        self._send(failure.status, failure.body, **failure.headers)

    def _send(self, status: int, body: object, **headers: str) -> None:
        content = dump(body)
        head = {"content-type": "application/json", "content-length": str(len(content))}
        self._start(status, head | headers)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _start(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("x-request-id", f"req_{uuid.uuid4().hex}")
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def _send_event(self, data: bytes) -> None:
        event = b"data: " + data + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))

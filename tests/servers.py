"""Loopback HTTP servers: any handler's, and one that gives prepared answers in order."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that writes nothing to standard error."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def on_loopback(
    handler: type[BaseHTTPRequestHandler],
    server_class: type[ThreadingHTTPServer] = ThreadingHTTPServer,
) -> Iterator[str]:
    """Serve requests with this handler, and give the address."""
    server = server_class(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True, slots=True)
class Answer:
    """One prepared answer."""

    status: int
    content_type: str
    body: bytes


@dataclass
class Played:
    """A running server: its address, and how many of its answers have been given."""

    url: str
    given: int = 0
    bodies: list[bytes] = field(default_factory=list)


GONE = Answer(410, "application/json", b'{"error": {"message": "no more recorded answers"}}')


@contextmanager
def playing(answers: Sequence[Answer]) -> Iterator[Played]:
    """Serve these answers on loopback, one a request; past the last each request gets 410."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            played.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
            answer = answers[played.given] if played.given < len(answers) else GONE
            played.given += 1
            self.send_response(answer.status)
            self.send_header("content-type", answer.content_type)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

    with on_loopback(Handler) as url:
        played = Played(url)
        yield played

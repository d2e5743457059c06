"""A provider on loopback that stops in the middle of its answer until the client hangs up."""

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from loopspan import Model, connect


@dataclass
class Held:
    """A running provider; `asked` is set with each request, `left` when its client hangs up."""

    model: Model
    asked: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)


def said(content: str) -> dict[str, Any]:
    """A chunk of text."""
    return {"id": "1", "model": "held-1", "choices": [{"index": 0, "delta": {"content": content}}]}


@contextmanager
def holding(*texts: str) -> Iterator[Held]:
    """Serve a stream of these texts that does not go on; without one not even its head is sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            if texts:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
            for text in texts:
                self.wfile.write(f"data: {json.dumps(said(text))}\n\n".encode())
            held.asked.set()
            with contextlib.suppress(ConnectionError):
                self.rfile.read(1)  # nothing comes, until the connection is closed
            held.left.set()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    held = Held(connect("openai:held-1", base_url=url, key="made-up"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

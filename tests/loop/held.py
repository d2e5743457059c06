"""A provider on loopback that stops in the middle of its answer until the client hangs up."""

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopspan import Model, connect
from tests.servers import QuietHandler, on_loopback


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

    class Handler(QuietHandler):
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

    with on_loopback(Handler) as url:
        held = Held(connect("openai:held-1", base_url=url, key="made-up"))
        yield held

"""A loopback server that gives the same answer to all it is asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.servers import QuietHandler, on_loopback


@dataclass(frozen=True)
class Served:
    """A running server: its address, what it was asked for, and with which headers."""

    url: str
    paths: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)


@contextmanager
def serving(status: int, *parts: bytes, **headers: str) -> Iterator[Served]:
    """Answer each GET with this status, the parts of a body and headers."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            served.paths.append(self.path)
            served.headers.append(dict(self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            for part in parts:
                self.wfile.write(part)

    with on_loopback(Handler) as url:
        served = Served(url)
        yield served

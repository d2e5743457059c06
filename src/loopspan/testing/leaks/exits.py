"""The ways out of a program, each searched for the planted words."""

from __future__ import annotations

import contextlib
import gzip
import io
import logging
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from opentelemetry import propagate
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from loopspan.testing.leaks.markers import CONTENT, Markers
from loopspan.testing.leaks.places import texts
from loopspan.testing.leaks.report import Finding


class Exits:
    """Where a set-up under test sends what leaves.

    `span_exporter` takes spans as they are and searches them as OTLP; `endpoint` is the address
    of an OTLP/HTTP receiver on loopback for traces, metrics and logs, which searches headers and
    bodies of what really arrives. The log of the process, its standard output and error, what is
    propagated to other services and the headers of requests to providers are searched as well.
    """

    def __init__(self, markers: Markers) -> None:
        self.endpoint = ""
        self.span_exporter: SpanExporter = _Encoding(self)
        self.findings: dict[Finding, str] = {}
        self.searched: Counter[str] = Counter()
        self.now = "the set-up"
        """The run that is being made, for the report."""
        self._markers = markers
        self._lock = threading.Lock()

    def search(self, place: str, text: str) -> None:
        """Look for planted words in a text that leaves."""
        for channel in self._markers.found_in(text):
            with self._lock:
                self.findings.setdefault(Finding(channel, place), self.now)

    def receive(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        """Search an OTLP request."""
        with self._lock:
            self.searched[path] += len(body)
        for name, value in headers.items():
            self.search(f"header {name} of {path}", f"{name}: {value}")
        found: set[str] = set()
        for place, text in texts(path, body):
            whole = place.startswith("body of")
            for channel in self._markers.found_in(text):
                # The whole body is searched for what the parts did not show.
                if not whole or channel not in found:
                    found.add(channel)
                    self.search(place, self._markers[channel])

    def propagated(self) -> None:
        """Search what would go to another service from here: trace context and baggage."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        for name, value in carrier.items():
            self.search(f"propagated header {name}", value)

    def requested(self, request: httpx.Request) -> None:
        """Search a request to a provider, but for its body; its headers may hold the secrets."""
        self.search("address of a provider request", str(request.url))
        for name, value in request.headers.items():
            for channel in self._markers.found_in(value):
                if channel in CONTENT:
                    self.search(f"provider request header {name}", value)


class _Encoding(SpanExporter):
    def __init__(self, exits: Exits) -> None:
        self._exits = exits

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        body = encode_spans(spans).SerializeToString()
        self._exits.receive("/v1/traces", {}, body)
        return SpanExportResult.SUCCESS


class _LogExit(logging.Handler):
    def __init__(self, exits: Exits) -> None:
        super().__init__(0)
        self._exits = exits
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{self._formatter.format(record)} {vars(record)}"
        with self._exits._lock:
            self._exits.searched["log"] += len(text)
        self._exits.search(f"log {record.name} {record.levelname}", text)


class _TextExit(io.StringIO):
    def __init__(self, exits: Exits, name: str) -> None:
        super().__init__()
        self._exits, self._name = exits, name

    def write(self, text: str) -> int:
        self._exits.searched[self._name] += len(text)
        self._exits.search(self._name, text)
        return len(text)


@contextlib.contextmanager
def open_exits(markers: Markers) -> Iterator[Exits]:
    """Give the exits of this process, open and searched until the end of the context.

    loopspan's own loggers say all they have to say meanwhile; others are left as they are.
    """
    exits = Exits(markers)
    with _receiver(exits) as exits.endpoint, contextlib.ExitStack() as stack:
        handler, own = _LogExit(exits), logging.getLogger("loopspan")
        root, level = logging.getLogger(), own.level
        root.addHandler(handler)
        stack.callback(root.removeHandler, handler)
        own.setLevel(logging.DEBUG)
        stack.callback(own.setLevel, level)
        stack.enter_context(contextlib.redirect_stdout(_TextExit(exits, "standard output")))
        stack.enter_context(contextlib.redirect_stderr(_TextExit(exits, "standard error")))
        yield exits


@contextlib.contextmanager
def _receiver(exits: Exits) -> Iterator[str]:
    class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            match self.headers.get("content-encoding"):
                case "gzip":
                    body = gzip.decompress(body)
                case "deflate":
                    body = zlib.decompress(body)
            exits.receive(self.path, dict(self.headers.items()), body)
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

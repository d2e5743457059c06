"""OTLP receivers on loopback that behave badly in a chosen way, and what has arrived there."""

import gzip
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from tests.servers import QuietHandler, on_loopback

MIB = 1024 * 1024


@dataclass
class Receiver:
    """What arrived: the spans of each accepted request, and the size of each request."""

    url: str = ""
    accepted: list[Span] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def take(self, data: bytes) -> None:
        self.accepted += [
            span
            for resource in ExportTraceServiceRequest.FromString(data).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def names(self) -> Counter[str]:
        """How often each span has arrived."""
        return Counter(span.name for span in self.accepted)


Rule = Callable[[int, bytes], tuple[int, dict[str, str]]]
"""The status and headers that answer the n-th request."""


def always(status: int = 200) -> Rule:
    return lambda number, data: (status, {})


def refusing_over(limit: int, status: int) -> Rule:
    return lambda number, data: (status if len(data) > limit else 200, {})


def then(*statuses: int, **headers: str) -> Rule:
    """These statuses, one a request, then success."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}

    def rule(number: int, data: bytes) -> tuple[int, dict[str, str]]:
        return (statuses[number], told) if number < len(statuses) else (200, {})

    return rule


@contextmanager
def receiving(rule: Rule) -> Iterator[Receiver]:
    """An HTTP receiver; a status of 0 hangs up in the middle of its answer."""
    receiver = Receiver()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                data = gzip.decompress(data)
            receiver.sizes.append(len(data))
            receiver.headers.append({k.lower(): v for k, v in self.headers.items()})
            status, headers = rule(len(receiver.statuses), data)
            receiver.statuses.append(status)
            if status == 0:
                self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
                self.close_connection = True
                return
            if status == 200:
                receiver.take(data)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "0")
            self.end_headers()

    with on_loopback(Handler) as receiver.url:
        yield receiver


@contextmanager
def receiving_grpc(refusals: Sequence[grpc.StatusCode] = ()) -> Iterator[Receiver]:
    """A gRPC receiver with gRPC's own limit of 4 MiB; it first refuses with these codes."""
    receiver = Receiver()
    waiting = list(refusals)

    def export(data: bytes, context: Any) -> ExportTraceServiceResponse:
        receiver.sizes.append(len(data))
        if waiting:
            context.abort(waiting.pop(0), "not now")
        receiver.take(data)
        return ExportTraceServiceResponse()

    handler = grpc.method_handlers_generic_handler(
        "opentelemetry.proto.collector.trace.v1.TraceService",
        {
            "Export": grpc.unary_unary_rpc_method_handler(
                export, response_serializer=ExportTraceServiceResponse.SerializeToString
            )
        },
    )
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((handler,))
    receiver.url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None).wait()


def made(*sizes: int) -> list[ReadableSpan]:
    """Ended spans `s0`, `s1`, … with a text of these many bytes each."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    found: list[ReadableSpan] = []
    for number, size in enumerate(sizes):
        text = "x" * size
        span = tracer.start_span(f"s{number}", attributes={"model": "m", "text": text})
        span.end()
        assert isinstance(span, ReadableSpan)
        found.append(span)
    return found

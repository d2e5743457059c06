"""Spans of the SDK in the shapes in which files and backends give them, and stubs that do."""

import asyncio
import base64
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from loopspan.runs.sources import Fetched, Source
from loopspan.runs.sources.drivers import Drivers

Spans = Sequence[ReadableSpan]
JSON = dict[str, Any]


def base64_ids(spans: Spans) -> list[JSON]:
    """What gogo's and protobuf's JSON write: ids in base64, names of enums, no zero values."""
    return list(MessageToDict(encode_spans(spans)).get("resourceSpans", []))


def hex_ids(spans: Spans) -> list[JSON]:
    """What OTLP says of JSON: ids in hex, numbers of enums."""
    resources = base64_ids(spans)
    for span in each_span(resources):
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64decode(span[name]).hex()
        span["kind"] = {"SPAN_KIND_INTERNAL": 1, "SPAN_KIND_CLIENT": 3}[span["kind"]]
        if "code" in span.get("status", {}):
            span["status"]["code"] = {"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}[
                span["status"]["code"]
            ]
    return resources


def each_span(resources: list[JSON]) -> Iterator[JSON]:
    for resource in resources:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def as_jaeger(spans: Spans) -> JSON:
    """Jaeger sorts attributes by key and events by name."""
    resources = hex_ids(spans)
    for span in each_span(resources):
        span.get("attributes", []).sort(key=lambda attribute: attribute["key"])
        span.get("events", []).sort(key=lambda event: event["name"])
    return {"result": {"resourceSpans": resources}}


def as_tempo_2(spans: Spans) -> JSON:
    return {
        "trace": {"resourceSpans": base64_ids(spans)},
        "metrics": {"inspectedBytes": "9"},
    }


def as_tempo_1(spans: Spans) -> JSON:
    return {"batches": base64_ids(spans)}


def as_tempo_protobuf(spans: Spans) -> bytes:
    return encode_spans(spans).SerializeToString()


def file_whole(spans: Spans) -> bytes:
    return json.dumps({"resourceSpans": hex_ids(spans)}, indent=2).encode()


def file_base64(spans: Spans) -> bytes:
    return json.dumps({"resourceSpans": base64_ids(spans)}).encode()


def file_lines(spans: Spans) -> bytes:
    """One object for each span, as the Collector's file exporter writes; one of them twice."""
    lines = [json.dumps({"resourceSpans": hex_ids([span])}) for span in spans]
    return "\n".join([*lines, *lines[:1], ""]).encode()


def file_gzipped(spans: Spans) -> bytes:
    """Two gzips one after the other are one file."""
    data = file_lines(spans)
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


FILES: tuple[Callable[[Spans], bytes], ...] = (file_whole, file_base64, file_lines, file_gzipped)

Handler = Callable[[httpx.Request], httpx.Response]


def asked(handler: Handler, **settings: Any) -> Drivers:
    """Drivers whose requests this function answers."""
    return Drivers(
        client=httpx.Client(transport=httpx.MockTransport(handler)),
        async_client=httpx.AsyncClient(transport=httpx.MockTransport(handler)),
        **settings,
    )


def answering(*answers: httpx.Response) -> tuple[Drivers, list[httpx.Request]]:
    """Drivers that get these answers, in order, and the requests that were made."""
    requests: list[httpx.Request] = []
    left = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return next(left)

    return asked(answer), requests


def fetch(source: Source, id: str) -> Fetched:
    return source.fetch(id)


def afetch(source: Source, id: str) -> Fetched:
    return asyncio.run(source.afetch(id))


Way = Callable[[Source, str], Fetched]
WAYS: tuple[Way, ...] = (fetch, afetch)

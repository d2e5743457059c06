"""The traces of Grafana Tempo.

https://grafana.com/docs/tempo/latest/api_docs/
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.errors import ConfigurationError, RunNotFound, SourceError
from loopspan.runs.otlp import attributes_of, spans
from loopspan.runs.sources.backend import Backend, orphans
from loopspan.runs.sources.documents import of_spans
from loopspan.runs.sources.drivers import Answer, Flow, Get
from loopspan.runs.sources.query import Query
from loopspan.runs.sources.source import Fetched, Listing, newest, trace_id
from loopspan.runs.sources.summary import SUMMARY_ATTRIBUTES, RunSummary, summary_of_attributes
from loopspan.telemetry import semconv as names

_PROTOBUF = "application/protobuf"
_RUNS_PER_TRACE = "20"


class TempoSource(Backend):
    """The traces of a Tempo, by its second API and, where there is none, by the first."""

    type = "tempo"
    title = "Tempo"
    port = 3200

    def _fetch(self, id: str) -> Flow[Fetched]:
        trace = trace_id(id)
        # Pruning may be the server's default, and leaves out spans that look alike.
        second = {"span_pruning": "false"}
        answer = yield Get(f"{self.url}/api/v2/traces/{trace}", second)
        document = None if answer.status == 404 else self._document(answer)
        if document is None or not (document.get("trace") or document.get("resourceSpans")):
            accept = f"{_PROTOBUF}, application/json;q=0.5"
            answer = yield Get(f"{self.url}/api/traces/{trace}", accept=accept)
            document = None if answer.status == 404 else self._document(answer)
        if document is None:
            raise RunNotFound(
                f"Tempo at {self.url} has no trace {trace}",
                "check the id; a trace that has just ended may take some seconds to arrive",
            )
        told = of_spans(self._spans(document, answer.url))
        partial = document.get("status") in ("PARTIAL", 1)
        said = (_partial(document),) if partial else ()
        return Fetched(told.runs, told.spans, partial, (*said, *orphans(told.spans)))

    def _search(self, query: Query) -> Flow[Listing]:
        since, until = query.between()
        asked = {
            "q": _traceql(query),
            "limit": str(query.limit),
            "spss": _RUNS_PER_TRACE,
            "start": str(int(since.timestamp())),
            "end": str(int(until.timestamp()) + 1),
        }
        answer = yield Get(f"{self.url}/api/search", asked)
        document = self._json(answer)
        traces = document.get("traces")
        try:
            found = [
                run
                for trace in (traces if isinstance(traces, list) else ())
                for run in _summaries(trace)
            ]
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise SourceError(
                f"{answer.url} answered what cannot be read: {error}",
                "check that the address is that of Tempo's query API (port 3200)",
            ) from error
        partial = document.get("status") in ("PARTIAL", 1)
        said = (_partial(document),) if partial else ()
        return Listing(newest(found, query.limit), partial, said)

    def _document(self, answer: Answer) -> dict[str, Any]:
        kind = answer.headers.get("content-type", "")
        if answer.status == 200 and kind.startswith(_PROTOBUF):
            return _decoded(answer)
        return self._json(answer)

    def _spans(self, document: Mapping[str, Any], url: str) -> list[Any]:
        try:
            return list(spans(document))
        except ValueError as error:
            raise SourceError(
                f"{url} answered what cannot be read: {error}",
                "check that the address is that of Tempo's query API (port 3200)",
            ) from error


def _decoded(answer: Answer) -> dict[str, Any]:
    # Loaded where it is needed: most Tempos answer in JSON.
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    try:
        return MessageToDict(TracesData.FromString(answer.body))
    except DecodeError:
        raise SourceError(
            f"{answer.url} answered protobuf that is no trace",
            "check that the address is that of Tempo's query API (port 3200)",
        ) from None


def _partial(document: Mapping[str, Any]) -> str:
    said = document.get("message")
    why = f": {said[:200]}" if isinstance(said, str) and said else ""
    return f"Tempo gave a part of the trace only{why}"


def _traceql(query: Query) -> str:
    """Return the query for the spans of runs, and for what their summaries need.

    https://grafana.com/docs/tempo/latest/traceql/
    """
    wanted = {f"span.{names.OPERATION_NAME}": names.INVOKE_AGENT}
    if query.service is not None:
        wanted["resource.service.name"] = query.service
    for name, value in query.attributes.items():
        if not re.fullmatch(r"[A-Za-z0-9_./-]+", name):
            raise ConfigurationError(f"{name!r} is no attribute that Tempo can be asked for")
        wanted[f"span.{name}"] = value
    conditions = " && ".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in wanted.items()
    )
    selected = ", ".join(f"span.{name}" for name in SUMMARY_ATTRIBUTES)
    return f"{{ {conditions} }} | select({selected})"


def _summaries(trace: Mapping[str, Any]) -> Iterator[RunSummary]:
    """Yield the runs of a trace that was found; the trace itself where it tells of none."""
    id, name = trace_id(str(trace.get("traceID")).zfill(32)), trace.get("rootTraceName")
    sets = trace.get("spanSets") or [trace.get("spanSet") or {}]
    found = [span for each in sets for span in each.get("spans") or ()]
    for span in found:
        started, took = int(span["startTimeUnixNano"]), int(span.get("durationNanos") or 0)
        told = attributes_of(span.get("attributes"))
        yield summary_of_attributes(told, id, span.get("name") or name, started, took / 1e6)
    if not found:
        started, took = int(trace["startTimeUnixNano"]), trace.get("durationMs") or 0
        yield summary_of_attributes({}, id, name, started, float(took))

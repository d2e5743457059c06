"""The traces of Jaeger, by its stable query API.

https://www.jaegertracing.io/docs/latest/architecture/apis/#query-json-over-http
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from loopspan.errors import RunNotFound, SourceError
from loopspan.runs.otlp import spans
from loopspan.runs.sources.backend import Backend, orphans
from loopspan.runs.sources.documents import of_spans
from loopspan.runs.sources.drivers import Answer, Flow, Get
from loopspan.runs.sources.query import Query
from loopspan.runs.sources.source import Fetched, Listing, newest, trace_id
from loopspan.runs.sources.summary import RunSummary, summary_of
from loopspan.telemetry import semconv as names

_MOST_SERVICES = 20
"""How many services are asked for one after the other where none is named."""


class JaegerSource(Backend):
    """The traces of a Jaeger; its address is that of the UI and the query API."""

    type = "jaeger"
    title = "Jaeger"
    port = 16686

    def _fetch(self, id: str) -> Flow[Fetched]:
        trace = trace_id(id)
        answer = yield Get(f"{self.url}/api/v3/traces/{trace}")
        if _has_none(answer):
            raise RunNotFound(
                f"Jaeger at {self.url} has no trace {trace}",
                "check the id; a trace that has just ended may take some seconds to arrive",
            )
        found = self._spans(answer)
        told = of_spans(found)
        return Fetched(told.runs, told.spans, warnings=orphans(told.spans))

    def _search(self, query: Query) -> Flow[Listing]:
        services, warnings = [query.service or ""], list[str]()
        if query.service is None:
            services = yield from self._services()
            if len(services) > _MOST_SERVICES:
                said = f"only {_MOST_SERVICES} of {len(services)} services were asked; name one"
                warnings.append(said)
        runs: dict[tuple[str | None, str | None], RunSummary] = {}
        for service in services[:_MOST_SERVICES]:
            answer = yield Get(f"{self.url}/api/v3/traces", _parameters(query, service))
            if _has_none(answer):
                continue
            for run in of_spans(self._spans(answer)).runs:
                runs[run.trace_id, run.run_id] = summary_of(run)
        return Listing(newest(runs.values(), query.limit), warnings=tuple(warnings))

    def _services(self) -> Flow[list[str]]:
        answer = yield Get(f"{self.url}/api/v3/services")
        told = self._json(answer).get("services")
        return sorted(map(str, told)) if isinstance(told, list) else []

    def _spans(self, answer: Answer) -> list[Any]:
        try:
            return list(spans(self._json(answer)))
        except ValueError as error:
            raise SourceError(
                f"{answer.url} answered what cannot be read: {error}",
                "check that the address is that of Jaeger's query API (port 16686)",
            ) from error


def _has_none(answer: Answer) -> bool:
    """Whether Jaeger says that there is no such trace, rather than that it has no such API."""
    return answer.status == 404 and answer.body.lstrip().startswith(b"{")


def _parameters(query: Query, service: str) -> dict[str, str]:
    since, until = query.between()
    told = {
        "serviceName": service,
        "startTimeMin": _time(since),
        "startTimeMax": _time(until),
        "searchDepth": str(query.limit),
    }
    # Releases before 2.19 spell them so and know no attributes; each ignores what it does not know.
    older = {
        "service_name": service,
        "start_time_min": _time(since),
        "start_time_max": _time(until),
        "num_traces": str(query.limit),
    }
    attributes = json.dumps({names.OPERATION_NAME: names.INVOKE_AGENT, **query.attributes})
    asked = {**told, **older, "attributes": attributes}
    return {f"query.{key}": value for key, value in asked.items()}


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

"""A running Jaeger, and how the tests ask it for what it has stored."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.backends.processes import PATIENCE, POLL_SECONDS, free_ports, running

CONFIG = Path(__file__).with_name("jaeger.yaml")


@dataclass(frozen=True, slots=True)
class Jaeger:
    """Where a running Jaeger listens."""

    otlp_http: str
    """The URL spans are posted to, without `/v1/traces`."""

    otlp_grpc: str
    """The same as host and port, for gRPC."""

    query: str
    """The URL of the query API, without a path."""

    def trace(
        self, trace_id: str, *, spans: int, timeout: float = PATIENCE
    ) -> list[dict[str, Any]]:
        """Wait until the trace has this many spans, and return them as Jaeger's OTLP JSON.

        The trace id is in hex. More spans than asked for are returned too; too few of them at the
        deadline are a TimeoutError.
        """
        deadline = time.monotonic() + timeout
        while len(found := self._stored(trace_id)) < spans:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"Jaeger has {len(found)} of {spans} spans of trace {trace_id}"
                    f" after {timeout} s: {[span['name'] for span in found]!r}"
                )
            time.sleep(POLL_SECONDS)
        return found

    def _stored(self, trace_id: str) -> list[dict[str, Any]]:
        url = f"{self.query}/api/v3/traces/{trace_id}"
        response = httpx.get(url, trust_env=False, timeout=PATIENCE)
        if response.status_code == httpx.codes.NOT_FOUND:
            return []
        resources = response.raise_for_status().json()["result"]["resourceSpans"]
        return [
            span
            for resource in resources
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


@contextmanager
def running_jaeger(program: Path, log: Path) -> Iterator[Jaeger]:
    """Run Jaeger on free ports while the block runs."""
    grpc, http, query, health = free_ports(4)
    env = {
        "JAEGER_OTLP_GRPC_PORT": str(grpc),
        "JAEGER_OTLP_HTTP_PORT": str(http),
        "JAEGER_QUERY_PORT": str(query),
        "JAEGER_HEALTH_PORT": str(health),
    }
    argv = [str(program), "--config", str(CONFIG)]
    with running(argv, env=env, ready=f"http://127.0.0.1:{health}/status", log=log):
        yield Jaeger(
            otlp_http=f"http://127.0.0.1:{http}",
            otlp_grpc=f"127.0.0.1:{grpc}",
            query=f"http://127.0.0.1:{query}",
        )

"""One request to an OTLP receiver, and what its answer means."""

from __future__ import annotations

import gzip
import logging
import ssl
import zlib
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal, Protocol, TypeAlias

import httpx

from loopspan.telemetry.export.settings import Settings

logger = logging.getLogger("loopspan.export")

Verdict: TypeAlias = Literal["accepted", "too_large", "retry", "refused"]

_RETRIED = frozenset({429, 502, 503, 504})
"""https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes"""
_LEVEL = 1
"""Higher levels take several times as long for a tenth less."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request; `retry_after` is in seconds, `rejected` the spans not taken.

    `size_told` says that the receiver named the size as its reason.
    """

    verdict: Verdict
    problem: str | None = None
    retry_after: float | None = None
    rejected: int = 0
    size_told: bool = False


class Transport(Protocol):
    """A way to a receiver."""

    def send(self, data: bytes, timeout: float) -> Outcome:
        """Send a request and say what became of it; `timeout` is in seconds.

        Raises whatever keeps a request from being made at all: a header or file that cannot be.
        """
        ...

    def close(self) -> None:
        """Give back what is open; the next request opens it again."""
        ...


class HttpTransport:
    """OTLP over HTTP."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: httpx.Client | None = None

    def send(self, data: bytes, timeout: float) -> Outcome:
        """Post a request."""
        settings = self._settings
        headers = {**settings.headers, "content-type": "application/x-protobuf"}
        match settings.compression:
            case "gzip":
                headers["content-encoding"] = "gzip"
                data = gzip.compress(data, _LEVEL, mtime=0)
            case "deflate":
                headers["content-encoding"] = "deflate"
                data = zlib.compress(data, _LEVEL)
        try:
            answer = self._opened().post(
                settings.endpoint, content=data, headers=headers, timeout=timeout
            )
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            return Outcome("retry", type(error).__name__ if not str(error) else str(error))
        return _read(answer)

    def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> httpx.Client:
        if self._client is None:
            self._client = httpx.Client(verify=_trust(self._settings), follow_redirects=False)
        return self._client


def _trust(settings: Settings) -> ssl.SSLContext | bool:
    if not settings.endpoint.startswith("https"):
        return False
    context = ssl.create_default_context(cafile=settings.certificate)
    if settings.client_certificate:
        context.load_cert_chain(settings.client_certificate, settings.client_key)
    return context


def _read(answer: httpx.Response) -> Outcome:
    status = answer.status_code
    problem = f"the receiver answered {status}"
    if answer.is_success:
        return accepted(answer.content)
    if status in (400, 413):
        return Outcome("too_large", problem, size_told=status == 413)
    if status in _RETRIED:
        return Outcome("retry", problem, _delay(answer.headers.get("retry-after")))
    return Outcome("refused", problem)


def accepted(content: bytes) -> Outcome:
    """Return the outcome of an answer that may tell of spans that were not taken."""
    if not content:
        return Outcome("accepted")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        partial = ExportTraceServiceResponse.FromString(content).partial_success
    except Exception:  # noqa: BLE001  # some receivers answer with JSON or a text
        return Outcome("accepted")
    rejected = partial.rejected_spans
    problem = f"the receiver rejected {rejected} spans" if rejected else None
    return Outcome("accepted", problem, rejected=rejected)


def _delay(header: str | None) -> float | None:
    """Return the seconds of `Retry-After`: a number, or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(header)
        from datetime import UTC, datetime

        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None

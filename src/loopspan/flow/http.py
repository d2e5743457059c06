"""What both drivers have in common in their use of httpx."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import httpx
from opentelemetry import trace
from opentelemetry.context import (
    _SUPPRESS_HTTP_INSTRUMENTATION_KEY,
    attach,
    detach,
    set_value,
)

from loopspan.errors import BadResponse, ConnectionFailed, ConnectionTimeout
from loopspan.flow.effects import HttpRequest
from loopspan.flow.spawned import current

TIMEOUT = httpx.Timeout(120.0, connect=10.0)
"""How long a provider may take between two bytes, and to accept a connection; in seconds."""


@lru_cache(maxsize=1)
def trust() -> ssl.SSLContext:
    """Return the certificates that are trusted; reading them costs more than a whole run."""
    return httpx.create_ssl_context()


@lru_cache(maxsize=64)
def address(url: str) -> httpx.URL:
    """Return an address parsed; once for all rounds that are sent to it."""
    return httpx.URL(url)


def arguments(request: HttpRequest) -> dict[str, Any]:
    """Return what the HTTP client is called with."""
    return {
        "method": request.method,
        "url": address(request.url),
        "headers": request.headers,
        "content": request.content,
    }


@contextlib.contextmanager
def sending(request: HttpRequest, span: trace.Span) -> Iterator[None]:
    """Make the span current while a request is sent, and its errors ours."""
    with named_errors(request.provider), current(span):
        if request.spans:
            yield
            return
        token = attach(set_value(_SUPPRESS_HTTP_INSTRUMENTATION_KEY, True))
        try:
            yield
        finally:
            detach(token)


@contextlib.contextmanager
def named_errors(provider: str) -> Iterator[None]:
    """Turn the HTTP client's errors into ours, which say who did not answer."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise ConnectionTimeout(_said(error), provider=provider) from error
    except httpx.DecodingError as error:
        raise BadResponse(_said(error), provider=provider) from error
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        raise ConnectionFailed(_said(error), provider=provider) from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

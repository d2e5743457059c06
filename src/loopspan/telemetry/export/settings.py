"""Where to export and how, as the standard variables say it.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from opentelemetry.util.re import parse_env_headers

from loopspan.environment import variable
from loopspan.errors import ConfigurationError

Protocol: TypeAlias = Literal["grpc", "http/protobuf"]
Compression: TypeAlias = Literal["none", "gzip", "deflate"]

HTTP_ENDPOINT, GRPC_ENDPOINT = "http://localhost:4318", "http://localhost:4317"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to export and how; `timeout` is in seconds and for one request."""

    endpoint: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    compression: Compression = "none"
    certificate: str | None = None
    client_key: str | None = None
    client_certificate: str | None = None
    insecure: bool = True


def protocol() -> str:
    """Return the OTLP protocol that the standard variables name."""
    return _variable("PROTOCOL") or "http/protobuf"


def endpoint(spoken: str) -> tuple[str, bool]:
    """Return where spans go by this protocol, and whether a variable says so."""
    traces = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    if traces:
        return traces, True
    base = variable("OTEL_EXPORTER_OTLP_ENDPOINT")
    if spoken == "grpc":
        return base or GRPC_ENDPOINT, base is not None
    return f"{(base or HTTP_ENDPOINT).rstrip('/')}/v1/traces", base is not None


def settings(spoken: str) -> Settings:
    """Return the settings; raises `ConfigurationError` for a value that is none."""
    url, _ = endpoint(spoken)
    return Settings(
        endpoint=url,
        headers=parse_env_headers(_variable("HEADERS") or "", liberal=True),
        timeout=_timeout(),
        compression=_compression(url),
        certificate=_variable("CERTIFICATE"),
        client_key=_variable("CLIENT_KEY"),
        client_certificate=_variable("CLIENT_CERTIFICATE"),
        insecure=_insecure(url, _variable("INSECURE")),
    )


def _variable(name: str) -> str | None:
    return variable(f"OTEL_EXPORTER_OTLP_TRACES_{name}") or variable(f"OTEL_EXPORTER_OTLP_{name}")


def _insecure(url: str, said: str | None) -> bool:
    """Whether gRPC goes without TLS: an address without a scheme has it unless told otherwise."""
    if url.startswith("https://"):
        return False
    return url.startswith("http://") if said is None else said.strip().lower() == "true"


def _timeout() -> float:
    given = _variable("TIMEOUT")
    try:
        seconds = 10.0 if given is None else float(given)
        if seconds > 0:
            return seconds
    except ValueError:
        pass
    raise ConfigurationError(f"OTEL_EXPORTER_OTLP_TIMEOUT is {given!r}; give seconds above 0")


def _compression(url: str) -> Compression:
    match given := (_variable("COMPRESSION") or "").strip().lower():
        case "":
            # Squeezing costs more than encoding; between programs of one machine it is for nothing.
            return "none" if is_loopback(url) else "gzip"
        case "none" | "gzip" | "deflate":
            return given
    raise ConfigurationError(
        f"OTEL_EXPORTER_OTLP_COMPRESSION is {given!r}; use gzip, deflate or none"
    )


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url if "://" in url else f"//{url}").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

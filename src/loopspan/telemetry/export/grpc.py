"""OTLP over gRPC; imported only where the protocol asks for it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import grpc

from loopspan.telemetry.export.settings import Settings
from loopspan.telemetry.export.transport import Outcome, accepted

_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_CODE = grpc.StatusCode
_RETRIED = frozenset(
    {
        _CODE.ABORTED,
        _CODE.CANCELLED,
        _CODE.DATA_LOSS,
        _CODE.DEADLINE_EXCEEDED,
        _CODE.OUT_OF_RANGE,
        _CODE.UNAVAILABLE,
    }
)
"""https://opentelemetry.io/docs/specs/otlp/#failures"""


class GrpcTransport:
    """OTLP over gRPC; requests are bytes already, and answers stay bytes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._metadata = tuple((k.lower(), v) for k, v in settings.headers.items())
        self._channel: grpc.Channel | None = None

    def send(self, data: bytes, timeout: float) -> Outcome:
        """Call the receiver."""
        call = self._opened().unary_unary(_METHOD)
        try:
            answer = call(data, timeout=timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            return _read(error)
        return accepted(answer)

    def close(self) -> None:
        """Close the channel."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _opened(self) -> grpc.Channel:
        if self._channel is None:
            self._channel = _channel(self._settings)
        return self._channel


def _channel(settings: Settings) -> grpc.Channel:
    parts = urlsplit(settings.endpoint)
    target = parts.netloc or settings.endpoint
    compression = {
        "none": grpc.Compression.NoCompression,
        "gzip": grpc.Compression.Gzip,
        "deflate": grpc.Compression.Deflate,
    }[settings.compression]
    if settings.insecure:
        return grpc.insecure_channel(target, compression=compression)
    files = (settings.certificate, settings.client_key, settings.client_certificate)
    credentials = grpc.ssl_channel_credentials(
        *(None if name is None else Path(name).read_bytes() for name in files)
    )
    return grpc.secure_channel(target, credentials, compression=compression)


def _read(error: grpc.RpcError) -> Outcome:
    code, details = error.code(), error.details() or ""
    problem = f"the receiver answered {code.name}"
    if code is _CODE.RESOURCE_EXHAUSTED:
        # Size and load share this code; gRPC's own limit says "larger than max".
        if "larger than max" in details or "too large" in details:
            return Outcome("too_large", problem, size_told=True)
        return Outcome("retry", problem)
    if code is _CODE.UNAVAILABLE and "failed to connect" in details:
        problem = "nothing answers there"
    return Outcome("retry" if code in _RETRIED else "refused", problem)

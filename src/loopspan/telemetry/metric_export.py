"""A meter provider that exports as the standard variables say, for programs that have none."""

from __future__ import annotations

import uuid
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    MetricExporter,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, Resource

from loopspan.environment import variable
from loopspan.errors import ConfigurationError

EXIT_TIMEOUT = 2.0
"""Seconds that the end of a program may take for its last figures."""


class _Reader(PeriodicExportingMetricReader):
    """The SDK's reader, which would wait half a minute for a receiver that does not answer."""

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        super().shutdown(min(timeout_millis, EXIT_TIMEOUT * 1000), **kwargs)


def exporting_meter_provider(resource: Resource) -> MeterProvider | None:
    """Return a provider that exports this program's metrics, `None` where the variables say so.

    Interval, endpoint, headers, temporality and the rest come from the standard variables.
    """
    match variable("OTEL_METRICS_EXPORTER") or "otlp":
        case "none":
            return None
        case "console":
            exporter: MetricExporter = ConsoleMetricExporter()
        case "otlp":
            exporter = _otlp(protocol())
        case other:
            raise ConfigurationError(
                f"OTEL_METRICS_EXPORTER is {other!r}; use otlp, console or none, or build the "
                f"provider yourself"
            )
    return MeterProvider([_Reader(exporter)], with_instance(resource))


def with_instance(resource: Resource) -> Resource:
    """Return the resource with an instance: counters of two processes must not be one series."""
    if SERVICE_INSTANCE_ID in resource.attributes:
        return resource
    return resource.merge(Resource({SERVICE_INSTANCE_ID: str(uuid.uuid4())}))


def protocol() -> str:
    """Return the OTLP protocol of metrics that the standard variables name."""
    return (
        variable("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL")
        or variable("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )


def _otlp(protocol: str) -> MetricExporter:
    match protocol:
        case "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
                OTLPMetricExporter as GrpcExporter,
            )

            return GrpcExporter()
        case "http/protobuf":
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
                OTLPMetricExporter as HttpExporter,
            )

            return HttpExporter()
        case other:
            raise ConfigurationError(
                f"the OTLP protocol of metrics is {other!r}; set OTEL_EXPORTER_OTLP_PROTOCOL to "
                f"http/protobuf or grpc"
            )

"""For programs without a tracer provider: one call, the rest by the standard variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.metrics import set_meter_provider
from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from loopspan.environment import variable
from loopspan.errors import ConfigurationError
from loopspan.telemetry.content import Content
from loopspan.telemetry.metrics import has_meter_provider
from loopspan.telemetry.policy import PolicyExporter
from loopspan.telemetry.redaction import DEFAULT_REDACTION, Redaction

if TYPE_CHECKING:
    from loopspan.telemetry.export import ExportProcessor

MAX_ATTRIBUTE_BYTES = 2000
"""What fits a stock Tempo, which cuts every text at 2,048 bytes, in the middle of its JSON."""


def configure(
    *,
    service_name: str | None = None,
    content: Content = "off",
    max_attribute_bytes: int | None = MAX_ATTRIBUTE_BYTES,
    redact: Redaction | None = DEFAULT_REDACTION,
    processors: tuple[SpanProcessor, ...] = (),
    metrics: bool = True,
) -> TracerProvider:
    """Make a tracer provider that exports, and set it as the global one.

    Exports OTLP over HTTP unless `OTEL_EXPORTER_OTLP_PROTOCOL` says `grpc`; endpoint, headers,
    sampler, resource and the rest come from the standard `OTEL_*` variables. `content` is what may
    leave the process; longer texts than `max_attribute_bytes` are cut (`None`: none is), and
    secrets are masked as `redact` says (`None`: none is). `processors` (a `RunTrace`) see the
    spans before. Unless `metrics` is false or `OTEL_METRICS_EXPORTER` is `none`, the metrics are
    exported too: through the global meter provider, which is made where there is none. Raises
    `ConfigurationError` where the program has a tracer provider already: add to that one instead.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        raise ConfigurationError(
            "this program has a tracer provider already; add RunTrace to it with "
            "`provider.add_span_processor(...)` instead of calling configure()"
        )
    named = {} if service_name is None else {"service.name": service_name}
    provider = TracerProvider(resource=Resource.create(named))
    for processor in processors:
        provider.add_span_processor(processor)
    exporting = exporting_processor(content, max_attribute_bytes=max_attribute_bytes, redact=redact)
    if exporting is not None:
        provider.add_span_processor(exporting)
        for processor in processors:
            watch = getattr(processor, "watch", None)  # a RunTrace tells what is not exported
            if watch is not None:
                watch(exporting.delivery)
    if metrics:
        export_metrics(provider.resource)
    trace.set_tracer_provider(provider)
    return provider


def export_metrics(resource: Resource | None = None) -> None:
    """Export this program's metrics as the standard variables say, unless it does so already."""
    if has_meter_provider():
        return
    # The SDK's metrics take a while to import, and most programs have them or do not want them.
    from loopspan.telemetry.metric_export import exporting_meter_provider

    provider = exporting_meter_provider(_resource() if resource is None else resource)
    if provider is not None:
        set_meter_provider(provider)


def private_provider(*processors: SpanProcessor) -> TracerProvider:
    """Return a tracer provider of its own: nothing of the environment thins its spans out.

    It samples every run and cuts no attribute, since a cut one could not be shown. Raises
    `ConfigurationError` where the environment switches tracing off.
    """
    if (variable(OTEL_SDK_DISABLED) or "").strip().lower() == "true":
        raise ConfigurationError(
            "OTEL_SDK_DISABLED is true, so nothing can be shown; unset it for this command"
        )
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=_resource(),
        shutdown_on_exit=False,
        span_limits=SpanLimits(**dict.fromkeys(_LIMITS, SpanLimits.UNSET)),
    )
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


_LIMITS = (
    "max_attributes",
    "max_events",
    "max_links",
    "max_span_attributes",
    "max_event_attributes",
    "max_link_attributes",
    "max_attribute_length",
    "max_span_attribute_length",
)


def _resource() -> Resource:
    """Return what the environment says of this program, its name where it says none."""
    found = Resource.create()
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: "loopspan"}))
    return found


def exporting_processor(
    content: Content = "off",
    *,
    max_attribute_bytes: int | None = MAX_ATTRIBUTE_BYTES,
    redact: Redaction | None = DEFAULT_REDACTION,
) -> ExportProcessor | None:
    """Return the processor that exports as the standard variables say, `None` for `none`.

    What leaves the process is up to the same arguments as those of `configure`.
    """
    # Only a program that exports with it waits for it.
    from loopspan.telemetry.export import Delivery, ExportProcessor, OtlpExporter

    delivery = Delivery()
    match variable("OTEL_TRACES_EXPORTER") or "otlp":
        case "none":
            return None
        case "console":
            exporter: SpanExporter = ConsoleSpanExporter()
        case "otlp":
            exporter = OtlpExporter(delivery)
        case other:
            raise ConfigurationError(
                f"OTEL_TRACES_EXPORTER is {other!r}; use otlp, console or none, or build the "
                f"provider yourself"
            )
    policy = PolicyExporter(
        exporter, content=content, max_attribute_bytes=max_attribute_bytes, redact=redact
    )
    return ExportProcessor(policy, delivery)

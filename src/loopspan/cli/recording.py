"""How the command line traces its own runs, and exports them where that is asked for."""

from __future__ import annotations

import logging

from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from loopspan.environment import variable
from loopspan.errors import ConfigurationError
from loopspan.runs import RunTrace
from loopspan.telemetry.content import Content
from loopspan.telemetry.setup import exporting_processor

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
"""What is not limited, whatever the environment says: a cut attribute could not be shown."""

_TELLING = ("opentelemetry.exporter", "opentelemetry.sdk")


class Export:
    """The exporter of the standard variables, and what it complains of."""

    def __init__(self, content: Content) -> None:
        """Raises `ConfigurationError` where the variables name no exporter that works."""
        self._complaints = _Complaints()
        self._logger = logging.getLogger("opentelemetry")
        try:
            processor = exporting_processor(content)
        except ConfigurationError:
            raise
        except Exception as error:
            raise ConfigurationError(
                f"the exporter cannot be built ({type(error).__name__}: {error}); "
                "check the OTEL_EXPORTER_OTLP_… variables"
            ) from error
        if processor is None:
            raise ConfigurationError(
                "OTEL_TRACES_EXPORTER is none; unset it, or leave out --export"
            )
        self.processor = processor
        self._logger.addHandler(self._complaints)

    def finish(self) -> str | None:
        """Send what is left; returns what went wrong, `None` where all was sent."""
        try:
            self.processor.force_flush()
            self.processor.shutdown()
        finally:
            self._logger.removeHandler(self._complaints)
        return self._complaints.last


class _Complaints(logging.Handler):
    """Keeps the exporter's last complaint: it tells of failures in no other way."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(_TELLING) and "retrying" not in record.getMessage():
            self.last = record.getMessage()


class Recording:
    """A tracer provider of its own: no sampler and no limit of the environment thins it out."""

    def __init__(self, export: Export | None = None) -> None:
        """Raises `ConfigurationError` where the environment switches tracing off."""
        if (variable(OTEL_SDK_DISABLED) or "").strip().lower() == "true":
            raise ConfigurationError(
                "OTEL_SDK_DISABLED is true, so nothing can be shown; unset it for this command"
            )
        self.run_trace = RunTrace()
        self.provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=_resource(),
            shutdown_on_exit=False,
            span_limits=SpanLimits(**dict.fromkeys(_LIMITS, SpanLimits.UNSET)),
        )
        self.provider.add_span_processor(self.run_trace)
        if export is not None:
            self.provider.add_span_processor(export.processor)


def _resource() -> Resource:
    """Return what the environment says of this program, its name where it says none."""
    found = Resource.create()
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: "loopspan"}))
    return found

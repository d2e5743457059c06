"""How the command line traces its own runs, and exports them where that is asked for."""

from __future__ import annotations

import logging

from loopspan.errors import ConfigurationError
from loopspan.runs import RunTrace
from loopspan.telemetry.content import Content
from loopspan.telemetry.setup import exporting_processor, private_provider

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
        self.run_trace = RunTrace()
        exporting = () if export is None else (export.processor,)
        self.provider = private_provider(self.run_trace, *exporting)

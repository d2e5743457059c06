"""How the command line traces its own runs, and exports them where that is asked for."""

from __future__ import annotations

from loopspan.errors import ConfigurationError
from loopspan.runs import RunTrace
from loopspan.telemetry.content import Content
from loopspan.telemetry.setup import exporting_processor, private_provider


class Export:
    """The exporter of the standard variables, and what became of the spans."""

    def __init__(self, content: Content) -> None:
        """Raises `ConfigurationError` where the variables name no exporter that works."""
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

    def finish(self) -> str | None:
        """Send what is left; returns what went wrong, `None` where all was sent."""
        self.processor.shutdown()
        delivery = self.processor.delivery
        if not delivery.dropped:
            return None
        lost = sum(delivery.dropped.values())
        return f"{delivery.problem or 'the exporter failed'} ({lost} not sent)"


class Recording:
    """A tracer provider of its own: no sampler and no limit of the environment thins it out."""

    def __init__(self, export: Export | None = None) -> None:
        """Raises `ConfigurationError` where the environment switches tracing off."""
        self.run_trace = RunTrace()
        exporting = () if export is None else (export.processor,)
        self.provider = private_provider(self.run_trace, *exporting)

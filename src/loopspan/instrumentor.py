"""What `opentelemetry-instrument` loads: runs are seen without a change to the program."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from pathlib import Path
from typing import Any

from opentelemetry import trace

from loopspan.environment import variable
from loopspan.runs import RunTrace
from loopspan.runs.export import as_otlp_json
from loopspan.runs.sources.documents import unique
from loopspan.runs.text.lines import flat
from loopspan.runs.text.report import report
from loopspan.telemetry.content import content_mode
from loopspan.telemetry.export import Delivery, OtlpExporter
from loopspan.telemetry.policy import PolicyExporter
from loopspan.telemetry.redaction import DEFAULT_REDACTION
from loopspan.telemetry.setup import MAX_ATTRIBUTE_BYTES

SHOW = "LOOPSPAN_SHOW"
RUNS_FILE = "LOOPSPAN_RUNS_FILE"
EXPORT_CONTENT = "LOOPSPAN_EXPORT_CONTENT"

logger = logging.getLogger("loopspan")


def process_run_trace() -> RunTrace | None:
    """Return the `RunTrace` that the instrumentor added, `None` where it added none."""
    return LoopspanInstrumentor.run_trace


class LoopspanInstrumentor:
    """Adds a `RunTrace` to the tracer provider that the program has; it never makes one.

    `LOOPSPAN_SHOW=1` prints the runs to standard error when the program ends,
    `LOOPSPAN_RUNS_FILE` names a file for their spans, in OTLP JSON. It never raises.
    """

    run_trace: RunTrace | None = None

    def instrument(self, **_options: Any) -> None:
        """Add a `RunTrace` to the global provider, unless that was done or there is none."""
        try:
            self._add()
        except Exception:
            logger.warning("RunTrace could not be added to this program", exc_info=True)

    def uninstrument(self, **_options: Any) -> None:
        """Take no more spans."""
        if LoopspanInstrumentor.run_trace is not None:
            LoopspanInstrumentor.run_trace.enabled = False

    def _add(self) -> None:
        if LoopspanInstrumentor.run_trace is not None:
            LoopspanInstrumentor.run_trace.enabled = True
            return
        add = getattr(trace.get_tracer_provider(), "add_span_processor", None)
        if add is None:
            logger.warning(
                "this program has no tracer provider of the SDK, so no run can be seen; install "
                "opentelemetry-distro, which makes one under opentelemetry-instrument"
            )
            return
        run_trace = LoopspanInstrumentor.run_trace = RunTrace()
        add(run_trace)
        # A child of a fork that ends runs this too, and has nothing of its own to show.
        atexit.register(_at_exit, run_trace, os.getpid())


class LoopspanExporter(PolicyExporter):
    """The exporter that `OTEL_TRACES_EXPORTER=loopspan` names: OTLP under the content policy.

    `LOOPSPAN_EXPORT_CONTENT` is what spans may carry out of the process: `off` (unless it says
    otherwise), `metadata`, `full`. Secrets are masked and long texts cut as `configure()` does it.
    """

    def __init__(self, **_options: Any) -> None:
        """Raises `ConfigurationError` for a content mode that there is none of."""
        super().__init__(
            OtlpExporter(Delivery()),
            content=content_mode((variable(EXPORT_CONTENT) or "off").lower()),
            max_attribute_bytes=MAX_ATTRIBUTE_BYTES,
            redact=DEFAULT_REDACTION,
        )


def _at_exit(run_trace: RunTrace, process: int) -> None:
    if os.getpid() != process:
        return
    try:
        _write(run_trace)
    except Exception:
        logger.warning("the runs of this program could not be shown", exc_info=True)


def _write(run_trace: RunTrace) -> None:
    if (variable(SHOW) or "").lower() in ("1", "true", "yes"):
        for run in run_trace.runs():
            for section in report(run):
                lines = [section.heading, *flat(section.items), ""]
                sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
    path = variable(RUNS_FILE)
    if path is not None:
        # The runs of one trace of another instrumentation share its spans.
        told = unique(s for run_id in run_trace.run_ids() for s in run_trace.spans(run_id))
        file = os.open(Path(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "wb") as out:
            out.write(as_otlp_json(told))

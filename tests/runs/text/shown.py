"""A run with fixed ids and times, to compare its text as a whole."""

from typing import Any

from loopspan.runs import Run, read_run
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

START = 1_777_640_000_000_000_000
MS = 1_000_000


def span(number: int, operation: str, start: float, end: float, **told: Any) -> SpanRecord:
    """A span whose times are milliseconds after the start of the run."""
    attributes = {names.OPERATION_NAME: operation, names.RUN_ID: "run-1", **told}
    return SpanRecord(
        name=operation,
        trace_id="0af7651916cd43dd8448eb211c80319c",
        span_id=f"{number:016x}",
        parent_id=None if number == 1 else f"{1:016x}",
        started_at=START + round(start * MS),
        ended_at=START + round(end * MS),
        attributes=attributes,
        status_message="it failed" if names.ERROR_TYPE in attributes else None,
    )


def run_of(*spans: SpanRecord, **told: Any) -> Run:
    """A run of these spans, a second long."""
    agent = {
        names.OUTCOME: "completed",
        names.AGENT_NAME: "support",
        names.REQUEST_MODEL: "m-1",
        names.COST_USD: 0.0123,
        names.COST_SOURCE: "table",
        **told,
    }
    return read_run([span(1, names.INVOKE_AGENT, 0, 1000, **agent), *spans])

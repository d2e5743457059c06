"""A run in a list: what its own span tells, without its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict

from loopspan.runs import values
from loopspan.runs.steps import Nanoseconds, Run, RunOutcome
from loopspan.telemetry import semconv as names

_OUTCOMES: tuple[RunOutcome, ...] = get_args(RunOutcome)


class RunSummary(BaseModel):
    """A run in a list; `None` is what the source's list does not tell."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run_id: str | None
    trace_id: str | None
    name: str | None
    """The configuration, else what the source calls the run or its trace."""
    model: str | None = None
    outcome: RunOutcome | None = None
    started_at: Nanoseconds
    duration_ms: float | None
    rounds: int | None = None
    tool_calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


def summary_of(run: Run) -> RunSummary:
    """Return the summary of a run that is known as a whole."""
    return RunSummary(
        run_id=run.run_id,
        trace_id=run.trace_id,
        name=run.configuration,
        model=run.model,
        outcome=run.outcome,
        started_at=run.started_at,
        duration_ms=run.duration_ms,
        rounds=run.rounds,
        tool_calls=run.tool_calls,
        input_tokens=run.usage.input_tokens,
        output_tokens=run.usage.output_tokens,
        cost_usd=run.cost_usd,
    )


SUMMARY_ATTRIBUTES = (
    names.RUN_ID,
    names.AGENT_NAME,
    names.REQUEST_MODEL,
    names.OUTCOME,
    names.ROUNDS,
    names.TOOL_CALLS,
    names.RUN_INPUT_TOKENS,
    names.RUN_OUTPUT_TOKENS,
    names.COST_USD,
)
"""The attributes of a run's span that its summary is made of."""


def summary_of_attributes(
    a: Mapping[str, Any], trace_id: str, name: str | None, started_at: int, duration_ms: float
) -> RunSummary:
    """Return the summary that the attributes of a run's span tell."""
    told = values.text(a, names.OUTCOME)
    return RunSummary(
        run_id=values.text(a, names.RUN_ID),
        trace_id=trace_id,
        name=values.text(a, names.AGENT_NAME) or name,
        model=values.text(a, names.REQUEST_MODEL),
        outcome=next((outcome for outcome in _OUTCOMES if outcome == told), None),
        started_at=started_at,
        duration_ms=duration_ms,
        rounds=values.integer(a, names.ROUNDS),
        tool_calls=values.integer(a, names.TOOL_CALLS),
        input_tokens=values.integer(a, names.RUN_INPUT_TOKENS),
        output_tokens=values.integer(a, names.RUN_OUTPUT_TOKENS),
        cost_usd=values.number(a, names.COST_USD),
    )

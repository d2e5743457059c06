"""From spans to runs: one reader, wherever the spans come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from loopspan.runs import values
from loopspan.runs.fold import Fold
from loopspan.runs.foreign import groups
from loopspan.runs.placed import with_content
from loopspan.runs.spans import cost_source, error_of, milliseconds
from loopspan.runs.steps import (
    TRUNCATED,
    ChatStep,
    CostSource,
    Missing,
    Reason,
    RequestStep,
    Run,
    RunOutcome,
    RunStep,
    TokenUsage,
    ToolStep,
)
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord
from loopspan.telemetry.store import ContentStore

_OUTCOMES: tuple[RunOutcome, ...] = get_args(RunOutcome)


def read_runs(spans: Iterable[SpanRecord], store: ContentStore | None = None) -> tuple[Run, ...]:
    """Return the runs that these spans tell, in the order of their start.

    `store` has the content of spans whose exporter put it there.
    """
    own: dict[str, list[SpanRecord]] = {}
    others: list[SpanRecord] = []
    for span in (with_content(span, store) for span in spans):
        run_id = values.text(span.attributes, names.RUN_ID)
        if run_id is None:
            others.append(span)
        else:
            own.setdefault(run_id, []).append(span)
    runs = [read_run(group) for group in own.values()]
    if others:
        told = [span for group in own.values() for span in group]
        runs += [_foreign(read_run(group)) for group in groups(others, told)]
    return tuple(sorted(runs, key=lambda run: (run.started_at, run.run_id)))


def read_run(spans: Sequence[SpanRecord]) -> Run:
    """Return the run that these spans, all of one run, tell."""
    steps = Fold().steps(spans)
    agent = next(
        (s for s in spans if s.attributes.get(names.OPERATION_NAME) == names.INVOKE_AGENT), None
    )
    first = agent or min(spans, key=lambda span: span.started_at)
    a = {} if agent is None else agent.attributes
    chats = [step for step in steps if isinstance(step, ChatStep)]
    outcome = _outcome(agent)
    usage = _total(chats)
    cost, source = _cost(chats, agent)
    missing = _missing(chats, usage, cost)
    rounds = values.integer(a, names.ROUNDS)
    calls = values.integer(a, names.TOOL_CALLS)
    return Run(
        run_id=str(first.attributes.get(names.RUN_ID)),
        trace_id=first.trace_id,
        configuration=values.text(a, names.AGENT_NAME),
        model=values.text(a, names.REQUEST_MODEL),
        outcome=outcome,
        truncated=outcome in TRUNCATED,
        error=None if agent is None else error_of(agent),
        rounds=_count(steps, "request") if rounds is None else rounds,
        max_rounds=values.integer(a, names.MAX_ROUNDS),
        tool_calls=sum(isinstance(s, ToolStep) for s in steps) if calls is None else calls,
        usage=usage,
        cost_usd=cost,
        cost_source=source,
        started_at=first.started_at,
        duration_ms=None if agent is None else milliseconds(agent),
        content=chats[-1].content if chats else None,
        parts=values.objects(a, names.PROMPT_PARTS),
        steps=steps,
        missing=missing,
    )


def _foreign(run: Run) -> Run:
    """Say what other instrumentations never tell."""
    steps = tuple(
        step.model_copy(update={"missing": _with_untold(step, _fields(step))}) for step in run.steps
    )
    missing = _with_untold(run, ("configuration", "model", "max_rounds", "parts"))
    return run.model_copy(update={"steps": steps, "missing": missing})


def _fields(step: RunStep) -> tuple[str, ...]:
    """Return the fields of a step that another instrumentation may leave out."""
    match step:
        case RequestStep():
            return ("provider", "model")
        case ChatStep(state="ok"):
            return ("response_model", "finish_reason", "finish_reason_raw")
        case ToolStep():
            return ("tool_call_id",)
        case _:
            return ()


def _with_untold(told: Run | RunStep, fields: Iterable[str]) -> tuple[Missing, ...]:
    """Return what is missing, and those fields that are `None` because nobody recorded them."""
    unknown = [Missing(field=f, why="not_recorded") for f in fields if getattr(told, f) is None]
    return (*told.missing, *unknown)


def _count(steps: Iterable[RunStep], kind: str) -> int:
    return sum(step.kind == kind for step in steps)


def _outcome(agent: SpanRecord | None) -> RunOutcome:
    if agent is None or agent.ended_at is None:
        gone = agent is not None and agent.attributes.get(names.OUTCOME) == "lost"
        return "lost" if gone else "running"
    told = values.text(agent.attributes, names.OUTCOME)
    for outcome in _OUTCOMES:
        if told == outcome:
            return outcome
    return "error" if error_of(agent) else "completed"


def _total(chats: Sequence[ChatStep]) -> TokenUsage:
    """Return the sum of what the rounds report."""
    totals: dict[str, int] = {}
    for chat in chats:
        for name, value in chat.usage:
            if value is not None and name != "total_tokens":
                totals[name] = totals.get(name, 0) + value
    total = None
    if "input_tokens" in totals and "output_tokens" in totals:
        total = totals["input_tokens"] + totals["output_tokens"]
    return TokenUsage(**totals, total_tokens=total)


def _cost(
    chats: Sequence[ChatStep], agent: SpanRecord | None
) -> tuple[float | None, CostSource | None]:
    if agent is not None and agent.ended_at is not None:
        return values.number(agent.attributes, names.COST_USD), cost_source(agent.attributes)
    known = [chat.cost_usd for chat in chats if chat.cost_usd is not None]
    if not known or len(known) < len(chats):
        return None, None
    return sum(known), "table" if any(c.cost_source == "table" for c in chats) else "provider"


def _missing(
    chats: Sequence[ChatStep], usage: TokenUsage, cost: float | None
) -> tuple[Missing, ...]:
    """Return what the run as a whole does not know, or knows only in part."""
    missing: list[Missing] = []
    if chats and chats[-1].content is None:
        reasons: list[Reason] = [m.why for m in chats[-1].missing if m.field == "content"]
        why = reasons[0] if reasons else "still_open"
        missing.append(Missing(field="content", why=why))
    for name in ("input_tokens", "output_tokens"):
        unknown = [c.round for c in chats if getattr(c.usage, name) is None]
        if unknown:
            said = f"not reported in round {', '.join(map(str, unknown))}"
            missing.append(Missing(field=f"usage.{name}", why="not_reported", detail=said))
    if chats and cost is None:
        detail = next((m.detail for c in chats for m in c.missing if m.field == "cost_usd"), None)
        missing.append(Missing(field="cost_usd", why="no_price", detail=detail))
    return tuple(missing)

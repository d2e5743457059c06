"""A run without what people, models and tools wrote, for those who may not see it."""

from __future__ import annotations

from loopspan.runs import AssembledStep, ChatStep, RequestStep, Run, RunStep, ToolStep
from loopspan.runs.steps import Missing, StepError


def withheld(run: Run) -> Run:
    """Return the run with its texts taken out; `missing` says `not_permitted`."""
    hidden = {"content": None, "error": _bare(run.error)}
    reasons = (*run.missing, *_reasons("content"))
    steps = tuple(map(_step, run.steps))
    return run.model_copy(update={**hidden, "steps": steps, "missing": reasons})


def _step(step: RunStep) -> RunStep:
    match step:
        case RequestStep():
            numbers = {k: v for k, v in step.parameters.items() if isinstance(v, int | float)}
            return _without(step, "messages", "tools").model_copy(update={"parameters": numbers})
        case ChatStep():
            return _without(step, "content", "thinking", "tool_calls", "raw")
        case ToolStep():
            return _without(step, "arguments", "result")
        case AssembledStep():
            return _without(step, "messages", "tools", "body")


def _without(step: RunStep, *fields: str) -> RunStep:
    known = [m for m in step.missing if m.field not in fields]
    hidden = dict.fromkeys(fields)
    told = {"missing": (*known, *_reasons(*fields)), "error": _bare(step.error)}
    return step.model_copy(update={**hidden, **told})


def _reasons(*fields: str) -> tuple[Missing, ...]:
    return tuple(Missing(field=field, why="not_permitted") for field in fields)


def _bare(error: StepError | None) -> StepError | None:
    return None if error is None else StepError(type=error.type)

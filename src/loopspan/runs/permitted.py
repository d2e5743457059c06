"""A run for those who may see what happened, and not what was said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from loopspan.runs.steps import (
    AssembledStep,
    ChatStep,
    Missing,
    RequestStep,
    Run,
    RunStep,
    StepError,
    ToolStep,
)


def without_content(run: Run) -> Run:
    """Return a run without what people, models and tools wrote; `missing` says `not_permitted`.

    Names, sizes, times, counts and costs stay.
    """
    return run.model_copy(
        update={
            "content": None,
            "error": _kind(run.error),
            "steps": tuple(_step(step) for step in run.steps),
            "missing": _missing(run.missing, ["content"]),
        }
    )


def _step(step: RunStep) -> RunStep:
    hidden: dict[str, Any]
    gone: list[str] = []
    match step:
        case RequestStep():
            hidden = {"messages": None}
            told = {k: v for k, v in step.parameters.items() if isinstance(v, bool | int | float)}
            kept: dict[str, Any] = {"parameters": told, "tools": _names(step.tools)}
        case ChatStep():
            hidden = {"content": None, "thinking": None, "raw": None}
            calls = step.tool_calls
            bare = calls and tuple(call.model_copy(update={"arguments": None}) for call in calls)
            kept = {"tool_calls": bare}
            gone = [f"tool_calls.{index}.arguments" for index in range(len(calls or ()))]
        case ToolStep():
            hidden, kept = {"arguments": None, "result": None}, {}
        case AssembledStep():
            hidden, kept = {"messages": None, "body": None}, {"tools": _names(step.tools)}
        case _:
            assert_never(step)
    missing = _missing(step.missing, [*hidden, *gone])
    changes = {**hidden, **kept, "error": _kind(step.error), "missing": missing}
    return step.model_copy(update=changes)


def _names(tools: tuple[dict[str, Any], ...] | None) -> tuple[dict[str, Any], ...] | None:
    return tools and tuple({k: t[k] for k in ("type", "name") if k in t} for t in tools)


def _kind(error: StepError | None) -> StepError | None:
    return None if error is None else StepError(type=error.type)


def _missing(missing: Iterable[Missing], hidden: Iterable[str]) -> tuple[Missing, ...]:
    """Return the reasons for what is unknown; a detail may quote a provider or a tool."""
    fields = tuple(hidden)
    told = (Missing(field=m.field, why=m.why) for m in missing if m.field not in fields)
    return (*told, *(Missing(field=field, why="not_permitted") for field in fields))

"""What stands out in a run, told with the steps that show it; where nothing is known, nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from loopspan.jsontext import load
from loopspan.runs.steps import (
    AssembledStep,
    CalledTool,
    ChatStep,
    RequestStep,
    Run,
    RunOutcome,
    ToolStep,
)

FindingId: TypeAlias = Literal[
    "length_stop",
    "limit_reached",
    "repeated_call",
    "bad_call",
    "cut_or_empty_result",
    "source_dropped",
]


class Finding(BaseModel):
    """Something worth a look: `steps` are the positions in `Run.steps` that show it.

    The title names tools, skills and snippets, never what was said.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: FindingId
    severity: Literal["error", "warning", "info"]
    title: str
    steps: tuple[int, ...]
    hint: str


def findings(run: Run) -> tuple[Finding, ...]:
    """Return what stands out in a run, in the order of the rules."""
    rules = (
        _length_stop,
        _limit_reached,
        _repeated_calls,
        _bad_calls,
        _cut_or_empty_results,
        _dropped_sources,
    )
    return tuple(finding for rule in rules for finding in rule(run))


def _length_stop(run: Run) -> Iterator[Finding]:
    cut = [n for n, step in _chats(run) if step.finish_reason == "length"]
    if cut:
        yield Finding(
            id="length_stop",
            severity="warning",
            title=f"{_count(cut, 'reply', 'replies')} cut at the limit of output tokens",
            steps=tuple(cut),
            hint="Raise max_tokens, or ask for a shorter answer.",
        )


_LIMITS: dict[RunOutcome, tuple[str, str]] = {
    "max_rounds": ("The rounds", "Raise max_rounds, or find out why the model keeps on calling."),
    "budget_tokens": (
        "The budget of tokens",
        "Raise it, or make the messages and results shorter.",
    ),
    "budget_cost": ("The budget of money", "Raise it, or take a cheaper model."),
    "budget_time": ("The time", "Raise it, or find the slow steps."),
}


def _limit_reached(run: Run) -> Iterator[Finding]:
    if run.outcome not in _LIMITS:
        return
    asking = [n for n, step in _chats(run) if step.tool_calls] or [n for n, _ in _tools(run)]
    if asking:
        what, hint = _LIMITS[run.outcome]
        yield Finding(
            id="limit_reached",
            severity="warning",
            title=f"{what} ran out while the model was still calling tools",
            steps=(asking[-1],),
            hint=hint,
        )


def _repeated_calls(run: Run) -> Iterator[Finding]:
    made: dict[tuple[str, str, tuple[str | None, ...]], list[int]] = {}
    for n, step in _tools(run):
        given, came = _given(step), _came_back(step)
        if given is not None and came is not None:
            made.setdefault((step.name, given, came), []).append(n)
    for (name, _, _), steps in made.items():
        if len(steps) > 1:
            yield Finding(
                id="repeated_call",
                severity="warning",
                title=f"{name} was called {len(steps)} times alike, with the same result",
                steps=tuple(steps),
                hint="Say in the tool's description or in its result what to do next.",
            )


def _bad_calls(run: Run) -> Iterator[Finding]:
    not_offered: list[tuple[int, str]] = []
    not_valid: list[tuple[int, str]] = []
    offered: dict[str | None, set[str] | None] = {}
    for n, step in enumerate(run.steps):
        match step:
            case RequestStep(tools=tuple(tools)):
                offered[step.span_id] = _offered(tools)
            case ChatStep(tool_calls=tuple(calls)):
                known = offered.get(step.span_id)
                for call in calls:
                    if known is not None and call.name not in known:
                        not_offered.append((n, call.name))
                    elif not _is_object(call):
                        not_valid.append((n, call.name))
            case ToolStep() if step.refused_by or _failed(step, "unknown_tool", "tool_refused"):
                not_offered.append((n, step.name))
            case ToolStep() if _failed(step, "invalid_arguments"):
                not_valid.append((n, step.name))
    if not_offered:
        yield Finding(
            id="bad_call",
            severity="warning",
            title=f"Called, but not offered: {_names(name for _, name in not_offered)}",
            steps=_steps(not_offered),
            hint="Offer the tool, or take its name out of the prompt.",
        )
    if not_valid:
        yield Finding(
            id="bad_call",
            severity="warning",
            title=f"Called with arguments that do not fit: {_names(name for _, name in not_valid)}",
            steps=_steps(not_valid),
            hint="Make the schema simpler, and describe each argument.",
        )


def _cut_or_empty_results(run: Run) -> Iterator[Finding]:
    cut = {n: s.name for n, s in _tools(run) if any(c.field == "result" for c in s.cut)}
    if cut:
        yield Finding(
            id="cut_or_empty_result",
            severity="warning",
            title=f"The model saw only the beginning of the result: {_names(cut.values())}",
            steps=tuple(cut),
            hint="Let the tool return less, or a page at a time.",
        )
    empty = {n: s.name for n, s in _tools(run) if _is_empty(s.result)}
    if empty:
        yield Finding(
            id="cut_or_empty_result",
            severity="info",
            title=f"The result was empty: {_names(empty.values())}",
            steps=tuple(empty),
            hint="Let the tool say in words that there is nothing, and why.",
        )


def _dropped_sources(run: Run) -> Iterator[Finding]:
    told = [
        f"{part.get('type')} {part.get('id') or '?'} ({str(part['dropped']).replace('_', ' ')})"
        for part in run.parts or ()
        # What is there twice is there.
        if part.get("dropped") and part["dropped"] != "duplicate"
    ]
    if told:
        first = (n for n, s in enumerate(run.steps) if isinstance(s, RequestStep | AssembledStep))
        yield Finding(
            id="source_dropped",
            severity="warning",
            title=f"Left out of the prompt: {_names(told)}",
            steps=tuple(list(first)[:1]),
            hint="Check its name and, for a skill, its checksum with `loopspan skills list`.",
        )


def _chats(run: Run) -> Iterator[tuple[int, ChatStep]]:
    return ((n, step) for n, step in enumerate(run.steps) if isinstance(step, ChatStep))


def _tools(run: Run) -> Iterator[tuple[int, ToolStep]]:
    return ((n, step) for n, step in enumerate(run.steps) if isinstance(step, ToolStep))


def _offered(tools: Iterable[dict[str, Any]]) -> set[str] | None:
    """Return the names of the tools of a request, `None` where one has no name."""
    names = {tool.get("name") for tool in tools}
    return {str(name) for name in names} if all(names) else None


def _failed(step: ToolStep, *kinds: str) -> bool:
    return step.error is not None and step.error.type in kinds


def _given(step: ToolStep) -> str | None:
    """Return the arguments as text that is the same for equal ones, `None` where it is not known.

    Without content only their size is told.
    """
    unknown = any(missing.field == "arguments" for missing in step.missing)
    if unknown or (isinstance(step.arguments, dict) and step.arguments.keys() == {"bytes"}):
        return None
    try:
        return json.dumps(step.arguments, sort_keys=True)
    except (RecursionError, TypeError, ValueError):
        return None


def _came_back(step: ToolStep) -> tuple[str | None, ...] | None:
    """Return what a call ended with, `None` where that is not known; results are not copied."""
    if step.state not in ("ok", "error"):
        return None
    if step.result is not None:
        return ("result", step.result)
    return None if step.error is None else ("error", step.error.type, step.error.message)


def _is_object(call: CalledTool) -> bool:
    """Whether the arguments can be an object; those that are not known can."""
    match call.arguments:
        case None | dict() | "":
            return True
        case str(text):
            try:
                return isinstance(load(text), dict)
            except ValueError:
                return False
        case _:
            return False


def _is_empty(result: str | None) -> bool:
    return result is not None and result.strip() in ("", '""', "null", "[]", "{}")


def _names(names: Iterable[str]) -> str:
    """Return names in one line, each once, the first few of them."""
    each = list(dict.fromkeys(names))
    more = f" and {len(each) - _MOST_NAMES} more" if len(each) > _MOST_NAMES else ""
    return ", ".join(each[:_MOST_NAMES]) + more


_MOST_NAMES = 5


def _steps(found: Iterable[tuple[int, str]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(n for n, _ in found))


def _count(found: list[int], one: str, many: str) -> str:
    return f"1 {one} was" if len(found) == 1 else f"{len(found)} {many} were"

"""A run without its steps: what lists and the strip show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from loopspan.messages import message_from_json
from loopspan.playground.bodies import Shape, preview
from loopspan.playground.numbers import numbers
from loopspan.runs import (
    AssembledStep,
    Finding,
    RequestStep,
    Run,
    ToolStep,
    findings,
    times,
)
from loopspan.runs.steps import TokenUsage
from loopspan.telemetry.redaction import DEFAULT_REDACTION

SourceType: TypeAlias = Literal["memory", "jaeger", "tempo", "file"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a run was read from; `name` is the backend's or the file's."""

    type: SourceType
    name: str

    def shape(self) -> Shape:
        """Return it as the page takes it."""
        return {"type": self.type, "name": self.name}


MEMORY = Source("memory", "memory")
USAGE = tuple(TokenUsage.model_fields)


def header(run: Run, source: Source) -> Shape:
    """Return the light form of a run; what belongs to a label or the stream is added later."""
    places = numbers(run.steps)
    told = run.model_dump(mode="json", exclude={"steps", "content", "parts", "missing", "error"})
    return {
        **told,
        "source": source.shape(),
        "title": title(run),
        "error": error(run),
        "missing": [missing(each) for each in run.missing],
        "step_count": _step_count(run, places),
        "tools": sorted({step.name for step in run.steps if isinstance(step, ToolStep)}),
        "findings": [_finding(each, places) for each in findings(run)],
        "time": asdict(times(run)),
    }


def _step_count(run: Run, places: list[int]) -> int:
    """Return how many steps there are; a request has its answer's place beside it."""
    pairs = zip(places, run.steps, strict=True)
    last = max((n + isinstance(step, RequestStep) for n, step in pairs), default=0)
    return last + has_own_error(run)


def has_own_error(run: Run) -> bool:
    """Whether a run failed in a way that none of its steps shows."""
    if run.error is None or run.outcome in ("cancelled", "abandoned"):
        return False
    return all(step.state != "error" for step in run.steps)


def _finding(found: Finding, places: list[int]) -> Shape:
    shape: Shape = found.model_dump(mode="json")
    return {**shape, "steps": [places[position] for position in found.steps]}


def error(run: Run) -> Shape | None:
    """Return what ended a run as a whole."""
    if run.error is None:
        return None
    said = run.error.message
    return {"type": run.error.type, "message": said and DEFAULT_REDACTION.redact(said)}


def missing(told: Any) -> Shape:
    """Return a reason for what is unknown."""
    shape: Shape = told.model_dump(mode="json", exclude_none=True)
    return shape


def title(run: Run) -> str | None:
    """Return the beginning of what the user asked, `None` where it was not captured."""
    first = next((s for s in run.steps if isinstance(s, RequestStep | AssembledStep)), None)
    messages = None if first is None else first.messages
    for position, message in reversed(list(enumerate(messages or ()))):
        if message.get("role") == "user":
            return preview(_asked(message, position, run.parts or ())) or None
    return None


def _asked(message: Mapping[str, Any], position: int, parts: Iterable[Mapping[str, Any]]) -> str:
    """Return the user's own part of a message, without the skills before it."""
    if any("bytes" in part for part in message.get("parts") or () if isinstance(part, Mapping)):
        return ""
    carried = message_from_json(message).carried.encode("utf-8", "surrogatepass")
    for part in parts:
        start, end = part.get("start"), part.get("end")
        mine = part.get("type") == "user" and part.get("message") == position
        if mine and isinstance(start, int) and isinstance(end, int):
            carried = carried[start:end]
            break
    return carried.decode("utf-8", "replace")


def totals(steps: Iterable[Shape]) -> Shape:
    """Return the totals of a run that goes on, out of the steps so far."""
    steps = list(steps)
    chats = [step for step in steps if step["kind"] == "chat" and step["state"] != "open"]
    costs = [chat["cost_usd"] for chat in chats]
    known = bool(costs) and all(cost is not None for cost in costs)
    return {
        "rounds": sum(step["kind"] == "request" for step in steps),
        "tool_calls": sum(step["kind"] == "tool" for step in steps),
        "usage": {name: _sum([chat["usage"][name] for chat in chats]) for name in USAGE},
        "cost_usd": sum(costs) if known else None,
        "step_count": len(steps),
    }


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None

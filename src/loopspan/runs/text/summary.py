"""The end of a run in words: how it came out, and its totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopspan.runs import ChatStep, Run
from loopspan.runs.steps import RunOutcome
from loopspan.runs.text.figures import duration, tokens, usd
from loopspan.runs.text.lines import Line, Style
from loopspan.runs.text.visible import visible

OUTCOMES: Mapping[RunOutcome, tuple[str, Style]] = {
    "running": ("Still running", "warning"),
    "lost": ("Lost: its process ended before it did", "error"),
    "completed": ("Answered", "good"),
    "max_rounds": ("Cut short: it used all its rounds", "warning"),
    "budget_tokens": ("Cut short: its budget of tokens is spent", "warning"),
    "budget_cost": ("Cut short: its budget of money is spent", "warning"),
    "budget_time": ("Cut short: its time is up", "warning"),
    "length": ("Cut short: the answer reached the limit of tokens", "warning"),
    "blocked": ("Blocked: the provider's content filter stopped the answer", "error"),
    "error": ("Failed", "error"),
    "cancelled": ("Interrupted", "warning"),
    "abandoned": ("Abandoned: its reader left", "warning"),
    "dry_run": ("Dry run: nothing was sent", "good"),
}


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome in words and how to draw it, then each fact under its name."""

    outcome: str
    style: Style
    facts: tuple[tuple[str, str], ...]

    def lines(self) -> list[Line]:
        """Return it as lines, a fact each."""
        facts = (Line(value, label=label) for label, value in self.facts)
        return [Line(self.outcome, self.style, indent=0), *facts]


def summary(run: Run) -> Summary:
    """Return how a run came out."""
    words, style = OUTCOMES[run.outcome]
    if run.error is not None and run.outcome in ("error", "blocked"):
        words = f"{words}: {visible(run.error.type)}"
    return Summary(words, style, tuple(_facts(run)))


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    if run.outcome != "dry_run":
        yield "rounds", _rounds(run)
        yield "tool calls", f"{run.tool_calls:,}"
    if run.rounds:
        yield "tokens", _tokens(run)
        yield "cost", _cost(run)
    if run.duration_ms is not None and run.outcome != "dry_run":
        yield "time", duration(run.duration_ms)
    if run.trace_id:
        yield "trace", visible(run.trace_id)


def _rounds(run: Run) -> str:
    if run.max_rounds is None:
        return f"{run.rounds}"
    if run.rounds > run.max_rounds:
        return f"{run.max_rounds}/{run.max_rounds} and a closing answer"
    return f"{run.rounds}/{run.max_rounds}"


def _tokens(run: Run) -> str:
    details = (m.detail for m in run.missing if m.field.startswith("usage.") and m.detail)
    said = "; ".join(dict.fromkeys(details))
    return f"{tokens(run.usage)}, {said}" if said else tokens(run.usage)


def _cost(run: Run) -> str:
    if run.cost_usd is None:
        return f"unknown: {_unpriced(run)}"
    source = {"provider": "the provider", "table": "the price table", None: "an unknown source"}
    return f"{usd(run.cost_usd)} by {source[run.cost_source]}"


def _unpriced(run: Run) -> str:
    detail = next((m.detail for m in run.missing if m.field == "cost_usd" and m.detail), None)
    if detail is not None:
        return visible(detail)
    chats = [step for step in run.steps if isinstance(step, ChatStep)]
    return "no price" if all(chat.state == "ok" for chat in chats) else "a round has no reply"

"""What a run gave back to its caller."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from loopspan.errors import LoopspanError
from loopspan.messages import Message, Usage
from loopspan.runs import Run, read_run
from loopspan.telemetry.operations import AgentSpan

Outcome: TypeAlias = Literal[
    "completed",
    "max_rounds",
    "budget_tokens",
    "budget_cost",
    "budget_time",
    "length",
    "blocked",
    "error",
    "cancelled",
    "abandoned",
    "dry_run",
]
"""How a run ended; `max_rounds`, the budgets and `length` say that it was cut short."""


@dataclass(frozen=True)
class RunResult:
    """What a run gave back to its caller.

    `messages` is the whole dialogue, ready to go on with; `content` is the text of the answer.
    """

    outcome: Outcome
    messages: tuple[Message, ...]
    error: LoopspanError | None = None
    _span: AgentSpan = field(kw_only=True, repr=False, compare=False)

    @property
    def run_id(self) -> str:
        """The id that every span of the run carries."""
        return self._span.facts.run_id

    @property
    def content(self) -> str | None:
        """The text of the last answer, `None` where there was none."""
        last = self._span.last_chat
        return None if last is None or last.reply is None else last.reply.message.text

    @property
    def rounds(self) -> int:
        """How many round-trips to the model were made."""
        return self._span.rounds

    @property
    def tool_calls(self) -> int:
        """How many tool calls the model asked for."""
        return self._span.tool_calls

    @property
    def usage(self) -> Usage:
        """The sum of the tokens that the rounds reported."""
        return self._span.usage

    @property
    def cost_usd(self) -> float | None:
        """What the run cost in US dollars, `None` where a round's cost is unknown."""
        cost = self._span.cost
        return None if cost is None else cost.usd

    @cached_property
    def run(self) -> Run:
        """The run as `RunTrace` and a backend show it, content as far as it was recorded."""
        return read_run([call.snapshot() for call in (self._span, *self._span.calls)])

"""Who asks for a run, and what a tool may know about the call it serves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """Who a run is for, as the application has established it."""

    id: str | None = None
    is_admin: bool = False


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call that a tool serves; a parameter annotated with this type receives it.

    `round` counts from 1; `tool_call_id` is the provider's own, where it gave one.
    """

    run_id: str
    round: int
    tool_call_id: str | None = None
    actor: Actor | None = None

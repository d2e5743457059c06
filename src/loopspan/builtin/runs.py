"""The runs that were recorded in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from loopspan.tools import Tool, tool

_FIELDS = (
    "run_id",
    "trace_id",
    "configuration",
    "outcome",
    "truncated",
    "rounds",
    "tool_calls",
    "usage",
    "cost_usd",
    "started_at",
    "duration_ms",
)
"""What is shown of a run: nothing that a user, a model or a tool wrote."""


def recorded_runs_tool(summaries: Callable[[], Iterable[Mapping[str, Any]]]) -> Tool:
    """Return the tool `recorded_runs`; `summaries` gives the runs as mappings, the newest first."""

    @tool(group="builtin")
    def recorded_runs(
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> dict[str, list[dict[str, Any]]]:
        """List the runs recorded in this process, the newest first: outcome, rounds, tokens, cost.

        Args:
            limit: The most runs to list.
        """
        newest = islice(summaries(), max(limit, 0))
        return {"runs": [{name: run[name] for name in _FIELDS if name in run} for run in newest]}

    return recorded_runs

"""All built-in tools that a program can have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from loopspan.builtin.clock import current_time
from loopspan.builtin.environment import environment_variables
from loopspan.builtin.logs import RecentLogs
from loopspan.builtin.python import installed_packages, python_information
from loopspan.builtin.runs import recorded_runs_tool
from loopspan.tools import Tool


def builtin_tools(
    *,
    logs: RecentLogs | None = None,
    runs: Callable[[], Iterable[Mapping[str, Any]]] | None = None,
) -> tuple[Tool, ...]:
    """Return the built-in tools, all of which only read.

    With `logs`, which is then attached to the root logger, `recent_log_records` is among them;
    with `runs`, which gives the newest run first, `recorded_runs`.
    """
    tools: list[Tool] = [
        current_time,
        python_information,
        installed_packages,
        environment_variables,
    ]
    if logs is not None:
        logs.attach()
        tools.append(logs.tool())
    if runs is not None:
        tools.append(recorded_runs_tool(runs))
    return tuple(tools)

"""Read-only tools about the program that the model's tools run in."""

from loopspan.builtin.clock import current_time
from loopspan.builtin.environment import environment_variables
from loopspan.builtin.logs import RecentLogs
from loopspan.builtin.python import installed_packages, python_information
from loopspan.builtin.runs import recorded_runs_tool
from loopspan.builtin.toolset import builtin_tools

__all__ = [
    "RecentLogs",
    "builtin_tools",
    "current_time",
    "environment_variables",
    "installed_packages",
    "python_information",
    "recorded_runs_tool",
]

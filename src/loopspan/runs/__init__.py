"""Runs as people read them: steps out of spans, from this process or from anywhere."""

from loopspan.runs.reader import read_run, read_runs
from loopspan.runs.run_trace import RunEvent, RunTrace
from loopspan.runs.steps import (
    AssembledStep,
    ChatStep,
    RequestStep,
    Run,
    RunStep,
    ToolStep,
)

__all__ = [
    "AssembledStep",
    "ChatStep",
    "RequestStep",
    "Run",
    "RunEvent",
    "RunStep",
    "RunTrace",
    "ToolStep",
    "read_run",
    "read_runs",
]

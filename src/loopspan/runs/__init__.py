"""Runs as people read them: steps out of spans, from this process or from anywhere."""

from loopspan.runs.events import RunEvent, RunEvents
from loopspan.runs.findings import Finding, findings
from loopspan.runs.kept import RunTraceStats
from loopspan.runs.reader import read_run, read_runs
from loopspan.runs.run_trace import RunTrace
from loopspan.runs.steps import (
    AssembledStep,
    ChatStep,
    RequestStep,
    Run,
    RunStep,
    ToolStep,
)
from loopspan.runs.times import Times, times

__all__ = [
    "AssembledStep",
    "ChatStep",
    "Finding",
    "RequestStep",
    "Run",
    "RunEvent",
    "RunEvents",
    "RunStep",
    "RunTrace",
    "RunTraceStats",
    "Times",
    "ToolStep",
    "findings",
    "read_run",
    "read_runs",
    "times",
]

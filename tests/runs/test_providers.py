"""`RunTrace` beside the tracer provider of a program, set before us, after us or never."""

import subprocess
import sys

import pytest

START = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from loopspan import RunTrace, ToolLoop

run_trace, theirs = RunTrace(), TracerProvider()
theirs.add_span_processor(run_trace)
"""
BEFORE = """
trace.set_tracer_provider(theirs)
loop = ToolLoop("demo:")
loop.run("Hi.")
assert trace.get_tracer_provider() is theirs
assert len(run_trace.runs()) == 1
"""
AFTER = """
loop = ToolLoop("demo:")
loop.run("Hi.")
trace.set_tracer_provider(theirs)
loop.run("Hi.")
assert trace.get_tracer_provider() is theirs
assert len(run_trace.runs()) == 1
"""
NEVER = """
ToolLoop("demo:").run("Hi.")
ToolLoop("demo:", tracer_provider=theirs).run("Hi.")
assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
assert len(run_trace.runs()) == 1
"""


@pytest.mark.parametrize("program", [BEFORE, AFTER, NEVER], ids=["before", "after", "never"])
def test_pi_02_the_global_provider_is_the_programs(program: str) -> None:
    subprocess.run([sys.executable, "-c", START + program], check=True, timeout=60)

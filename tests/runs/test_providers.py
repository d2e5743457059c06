"""`RunTrace` beside the tracer provider of a program, or of an error tracker in it."""

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

TRACKER = """
from opentelemetry import propagate, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from loopspan import RunTrace, ToolLoop, configure
from loopspan.errors import ConfigurationError

def provider_of(sampler, *processors):
    provider = TracerProvider(sampler=sampler)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider

def names_of(exporter):
    return [span.name for span in exporter.get_finished_spans()]

reported, exported = InMemorySpanExporter(), InMemorySpanExporter()
propagator = TraceContextTextMapPropagator()
propagate.set_global_textmap(propagator)
theirs = provider_of(SAMPLER, SimpleSpanProcessor(reported))
trace.set_tracer_provider(theirs)
seen = SAMPLER is ALWAYS_ON

def serve(loop):
    with trace.get_tracer("web").start_as_current_span("GET /") as request:
        assert loop.run("Hi.").outcome == "completed"
        assert trace.get_current_span() is request
    told = names_of(reported)
    reported.clear()
    return told

# A provider of our own sees our spans and no others, and theirs none of ours.
apart = RunTrace()
ours = provider_of(ALWAYS_ON, apart, SimpleSpanProcessor(exported))
assert serve(ToolLoop("demo:", tracer_provider=ours)) == ["GET /"] * seen
[run] = apart.runs()
assert run.outcome == "completed"
assert sorted({name.split()[0] for name in names_of(exported)}) == ["chat", "invoke_agent"]

# Where it has one already, none is made, and nothing begins to be sent.
try:
    configure(processors=(apart,))
except ConfigurationError:
    pass
else:
    raise AssertionError("configure() took the tracker's provider away")

# In its provider we see what it samples, and it what it asked for.
shared = RunTrace()
theirs.add_span_processor(shared)
assert ("GET /" in serve(ToolLoop("demo:"))) == seen
assert [run.outcome for run in shared.runs()] == ["completed"] * seen

assert len(apart.runs()) == 1
assert trace.get_tracer_provider() is theirs
assert propagate.get_global_textmap() is propagator
"""


@pytest.mark.parametrize("sampler", ["ALWAYS_ON", "ALWAYS_OFF"])
def test_pi_02_an_error_tracker_keeps_its_opentelemetry(sampler: str) -> None:
    """PI-02: its provider, propagator, samples and spans are its own, and ours are ours."""
    program = TRACKER.replace("SAMPLER", sampler)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("program", [BEFORE, AFTER, NEVER], ids=["before", "after", "never"])
def test_pi_02_the_global_provider_is_the_programs(program: str) -> None:
    subprocess.run([sys.executable, "-c", START + program], check=True, timeout=60)

"""What the tests of the local model have in common: a loop on it, a tool, what came of it."""

from typing import Any, Literal

from loopspan import Parameters, ToolLoop, tool
from loopspan.runs import Run
from loopspan.testing import Captured

SHORT = Parameters(temperature=0.0, max_tokens=24)
LONG = Parameters(temperature=0.0, max_tokens=1500)
TALE = "Tell me a very long story about a dog, a cat and a horse. Never stop."


def assert_each_span_ended_once(captured: Captured) -> None:
    ids = [span.context.span_id for span in captured.spans if span.context]
    assert len(ids) == len(set(ids))
    for run in captured.run_trace.runs():
        assert run.outcome not in ("running", "lost")
        assert "open" not in {step.state for step in run.steps}


@tool
def temperature(city: Literal["Oslo", "Rome"]) -> dict[str, Any]:
    """Get the temperature of a city."""
    return {"city": city, "celsius": 21}


def local_loop(captured: Captured, *tools: Any, **settings: Any) -> ToolLoop:
    return ToolLoop("local:", tools, tracer_provider=captured.provider, content="full", **settings)


def only_run(captured: Captured) -> Run:
    [run] = captured.run_trace.runs()
    return run


def kinds(run: Run) -> list[str]:
    return [step.kind for step in run.steps]

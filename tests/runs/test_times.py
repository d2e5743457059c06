"""The parts of a run's time add up to it, whatever went on side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.runs import Run, Times, read_run, times
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

MS = 1_000_000
START = 1_700_000_000_000_000_000


def span(operation: str, start: float, end: float | None, number: int = 0) -> SpanRecord:
    """A span whose times are milliseconds from the start of its run."""
    return SpanRecord(
        name=operation,
        trace_id="a" * 32,
        span_id=f"{number:016x}",
        parent_id=None,
        started_at=START + round(start * MS),
        ended_at=None if end is None else START + round(end * MS),
        attributes={names.OPERATION_NAME: operation, names.RUN_ID: "r", names.TOOL_NAME: "t"},
    )


def run_of(end: float | None, *steps: tuple[str, float, float | None]) -> Run:
    spans = [span(*step, number=n) for n, step in enumerate(steps, 1)]
    return read_run([span(names.INVOKE_AGENT, 0, end), *spans])


CHAT, TOOL = names.CHAT, names.EXECUTE_TOOL


def test_tools_side_by_side_count_once() -> None:
    run = run_of(100, (CHAT, 5, 30), (TOOL, 40, 60), (TOOL, 50, 70), (TOOL, 80, 85))
    assert times(run) == Times(model_ms=25, tools_ms=35, other_ms=40)


def test_a_tool_beside_the_model_counts_as_the_model() -> None:
    run = run_of(100, (CHAT, 10, 50), (TOOL, 40, 60), (CHAT, 45, 55))
    assert times(run) == Times(model_ms=45, tools_ms=5, other_ms=50)


def test_what_lies_outside_the_run_does_not_count() -> None:
    """Clocks of two machines differ, and a tool that was given up may end after its run."""
    assert times(run_of(10, (CHAT, -5, 2), (TOOL, 8, 90))) == Times(2, 2, 6)


def test_a_run_that_goes_on_has_only_what_its_steps_took() -> None:
    assert times(run_of(None, (CHAT, 0, 20), (TOOL, 25, None))) == Times(20, 0, None)


moments = st.floats(-50, 1500)
steps = st.tuples(st.sampled_from([CHAT, TOOL]), moments, moments).map(
    lambda step: (step[0], min(step[1:]), max(step[1:]))
)


@given(end=st.floats(0, 1000), made=st.lists(steps, max_size=8))
def test_the_parts_add_up_to_the_duration(end: float, made: list[tuple[str, float, float]]) -> None:
    run = run_of(end, *made)
    parts = times(run)
    assert parts.other_ms is not None
    assert min(parts.model_ms, parts.tools_ms, parts.other_ms) >= 0
    assert parts.model_ms + parts.tools_ms + parts.other_ms == pytest.approx(run.duration_ms)
    again = times(run_of(end, *made, *made))
    assert again == parts

"""What `RunTrace` keeps: bounded by runs, bytes and age, whole runs dropped and counted."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from loopspan import RunEvent, RunTrace, tool
from loopspan.runs import ChatStep
from loopspan.testing import Answer, ScriptedModel, calls
from tests.loop.ways import loop_of


def provider(run_trace: RunTrace) -> TracerProvider:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(run_trace)
    return made


def run(traced: TracerProvider, text: str = "Hello.", tools: Any = ()) -> str:
    """Make a run of two rounds where there are tools, else of one, and return its id."""
    answers: list[Answer] = [*(calls(each.name) for each in tools), text]
    loop = loop_of(ScriptedModel(answers), tools, tracer_provider=traced, content="full")
    return loop.run("Hi.").run_id


def kept(run_trace: RunTrace) -> list[str]:
    return [run.run_id for run in run_trace.runs()]


def test_the_oldest_runs_are_dropped_and_counted() -> None:
    run_trace = RunTrace(max_runs=3)
    traced = provider(run_trace)
    ids = [run(traced) for _ in range(5)]

    assert kept(run_trace) == ids[2:]
    assert run_trace.dropped == 2
    assert run_trace.run(ids[0]) is None
    assert [run.outcome for run in run_trace.runs()] == ["completed"] * 3


def test_bytes_are_bounded() -> None:
    run_trace = RunTrace(max_bytes=100_000)
    traced = provider(run_trace)
    ids = [run(traced, "x" * 30_000) for _ in range(5)]

    assert kept(run_trace) == ids[2:]
    assert run_trace.dropped == 2


def test_bytes_are_those_of_memory() -> None:
    run_trace = RunTrace(max_bytes=100_000)
    traced = provider(run_trace)
    ids = [run(traced, "👋" * 15_000) for _ in range(3)]  # four bytes each, in UTF-8 and in memory

    assert kept(run_trace) == ids[2:]


def test_what_is_dropped_is_no_longer_weighed() -> None:
    run_trace = RunTrace(max_bytes=100_000)
    traced = provider(run_trace)
    run(traced, "x" * 90_000)
    ids = [run(traced, "x" * 10_000) for _ in range(5)]

    assert kept(run_trace) == ids
    assert run_trace.dropped == 1


def test_a_run_that_is_too_large_by_itself_is_dropped_once() -> None:
    @tool
    def look() -> str:
        """Look."""
        return "x" * 10_000

    run_trace = RunTrace(max_bytes=10_000)
    told: list[RunEvent] = []
    run_trace.subscribe(told.append)
    run(provider(run_trace), "Hello.", [look])

    assert kept(run_trace) == []
    assert run_trace.dropped == 1
    assert all(event.step or event.run for event in told)


def test_old_runs_are_dropped_when_somebody_looks() -> None:
    run_trace = RunTrace()
    traced = provider(run_trace)
    for _ in range(2):
        run(traced)
    run_trace.max_age = -1.0

    assert kept(run_trace) == []
    assert run_trace.dropped == 2


def test_old_runs_are_dropped_when_a_new_one_comes() -> None:
    run_trace = RunTrace()
    traced = provider(run_trace)
    run(traced)
    run_trace.max_age = -1.0
    run(traced)

    assert run_trace.dropped == 2


def test_a_run_that_was_dropped_while_it_went_on_does_not_come_back_in_pieces() -> None:
    run_trace = RunTrace(max_runs=1)
    traced = provider(run_trace)
    inner: list[str] = []

    @tool
    def delegate() -> str:
        """Make another run, which takes the place of this one."""
        inner.append(run(traced))
        return "done"

    outer = run(traced, "Done.", [delegate])

    assert kept(run_trace) == inner
    assert run_trace.run(outer) is None
    assert run_trace.dropped == 1


def test_clearing_forgets_everything_but_the_count() -> None:
    run_trace = RunTrace(max_runs=1)
    traced = provider(run_trace)
    run(traced)
    run(traced)
    run_trace.clear()

    assert kept(run_trace) == []
    assert run_trace.dropped == 1
    again = run(traced)
    assert kept(run_trace) == [again]


def test_the_end_of_a_run_that_is_dropped_with_it_is_told() -> None:
    run_trace = RunTrace()
    told: list[RunEvent] = []

    def listen(event: RunEvent) -> None:
        told.append(event)
        if isinstance(event.step, ChatStep):
            run_trace.max_age = -1.0

    run_trace.subscribe(listen)
    run_id = run(provider(run_trace))

    assert run_trace.run(run_id) is None
    assert told[-1].run is not None
    assert told[-1].run.outcome == "completed"


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_many_threads_may_write_and_read_at_once() -> None:
    run_trace = RunTrace(max_runs=5)
    traced = provider(run_trace)
    over = threading.Event()

    def read() -> int:
        count = 0
        while not over.is_set():
            for each in run_trace.runs():
                again = run_trace.run(each.run_id)
                assert again is None or again.run_id == each.run_id
            count += 1
        return count

    with ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        ids = list(pool.map(lambda n: run(traced, str(n)), range(60)))
        over.set()
        assert all(reader.result(30) for reader in readers)

    assert len(set(ids)) == 60
    assert run_trace.dropped == 55
    assert {run.outcome for run in run_trace.runs()} == {"completed"}
    assert len(run_trace.runs()) == 5

"""What becomes of runs that do not end, and of readers that are slow."""

import asyncio
import subprocess
import sys
import threading

import pytest

from loopspan import Run, RunEvent, RunTrace, tool
from loopspan.testing import ScriptedModel, calls, capture
from tests.loop.ways import loop_of
from tests.runs.test_bounds import kept, provider, run

FORK = """
import os, sys
from opentelemetry.sdk.trace import TracerProvider
from loopspan import RunTrace, ToolLoop, tool

provider, run_trace, told = TracerProvider(), RunTrace(), []
provider.add_span_processor(run_trace)
run_trace.subscribe(lambda event: told.append(os.getpid()))
loop = ToolLoop("demo:", tracer_provider=provider)
tracer = provider.get_tracer("t")
open_run = tracer.start_span("invoke_agent", attributes={
    "gen_ai.operation.name": "invoke_agent", "loopspan.run.id": "parents"})
run_trace._lock.acquire()
pid = os.fork()
if pid == 0:
    before = len(told)
    run_id = loop.run("Hi.").run_id
    open_run.end()
    assert [r.outcome for r in run_trace.runs()] == ["lost", "completed"], run_trace.runs()
    assert len(told) == before
    os._exit(0)
run_trace._lock.release()
assert os.waitpid(pid, 0)[1] == 0
open_run.end()
assert [r.outcome for r in run_trace.runs()] == ["completed"]
assert told
"""


def test_rc_04_a_forked_child_has_its_own_lock_runs_and_no_listeners() -> None:
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60)


def test_a_run_that_is_open_at_the_shutdown_is_lost_with_its_steps() -> None:
    with capture() as captured:
        seen: list[Run] = []

        @tool
        def look() -> str:
            """Look, while the program ends."""
            captured.run_trace.shutdown()
            seen.extend(captured.run_trace.runs())
            return "nothing yet"

        model = ScriptedModel([calls("look"), "Done."])
        loop_of(model, [look], captured).run("Hi.")

    assert [each.outcome for each in seen] == ["lost"]
    assert seen[0].steps[-1].state == "lost"
    [after] = captured.run_trace.runs()
    assert after.outcome == "completed"


def test_rc_01_switched_off_nothing_is_kept() -> None:
    run_trace = RunTrace()
    traced = provider(run_trace)
    run_trace.enabled = False
    run(traced)
    assert (kept(run_trace), run_trace.stats.bytes) == ([], 0)

    run_trace.enabled = True
    again = run(traced)
    assert kept(run_trace) == [again]


def test_the_reason_of_each_drop_is_counted() -> None:
    run_trace = RunTrace(max_runs=2, max_bytes=100_000)
    traced = provider(run_trace)
    for text in ("a", "b", "c", "x" * 110_000):
        run(traced, text)
    run_trace.max_age = -1.0
    run_trace.runs()

    assert run_trace.stats.dropped == {"runs": 2, "bytes": 2}
    assert run_trace.dropped == 4
    assert (run_trace.stats.runs, run_trace.stats.bytes) == (0, 0)


def test_the_text_of_open_spans_is_weighed_and_in_the_end_that_of_their_events() -> None:
    run_trace = RunTrace()
    tracer = provider(run_trace).get_tracer("t")
    facts = {"gen_ai.operation.name": "invoke_agent", "loopspan.run.id": "r"}
    span = tracer.start_span("a", attributes={**facts, "text": "x" * 50_000})
    assert run_trace.stats.bytes > 50_000
    span.add_event("e", {"text": "x" * 50_000})
    span.end()
    assert 100_000 < run_trace.stats.bytes < 110_000


def test_a_pinned_run_goes_last_and_a_run_can_be_dropped() -> None:
    run_trace = RunTrace(max_runs=2)
    traced = provider(run_trace)
    first = run(traced)
    assert run_trace.pin(first)
    ids = [run(traced) for _ in range(3)]
    assert kept(run_trace) == [first, ids[-1]]

    assert run_trace.drop(first)
    assert not run_trace.drop(first)
    assert not run_trace.pin(first)
    assert kept(run_trace) == [ids[-1]]


def test_a_run_that_goes_on_stays_while_others_that_are_over_can_go() -> None:
    run_trace = RunTrace(max_runs=2)
    traced = provider(run_trace)

    @tool
    def delegate() -> str:
        """Make three more runs."""
        for _ in range(3):
            run(traced)
        return "done"

    assert run(traced, "Done.", [delegate]) in kept(run_trace)


def test_a_slow_reader_loses_the_oldest_events_and_is_told_how_many() -> None:
    run_trace = RunTrace()
    traced = provider(run_trace)
    with run_trace.events(maxsize=2) as events:
        for _ in range(3):
            last = run(traced)  # three events each
        got = [next(events) for _ in range(3)]

    assert [event.lost for event in got] == [7, 0, 0]
    assert got[-1].run is not None
    assert got[-1].run_id == last
    assert run_trace.stats.events_lost == 7
    assert list(events) == []


def test_a_reader_in_a_thread_ends_when_it_is_closed_elsewhere() -> None:
    run_trace = RunTrace()
    events = run_trace.events()
    got: list[str] = []
    heard = threading.Event()

    def read() -> None:
        for event in events:
            got.append(event.run_id)
            heard.set()

    reader = threading.Thread(target=read)
    reader.start()
    run_id = run(provider(run_trace))
    assert heard.wait(30)
    events.close()
    reader.join(30)

    assert not reader.is_alive()
    assert set(got) == {run_id}


def test_a_task_reads_runs_of_threads_and_leaves_nothing() -> None:
    run_trace = RunTrace()
    traced = provider(run_trace)

    async def read(ready: asyncio.Event) -> list[str]:
        kinds: list[str] = []
        async with run_trace.events() as events:
            ready.set()
            async for event in events:
                kinds.append("end" if event.step is None else event.step.kind)
                if event.run is not None:
                    break
        return kinds

    async def program() -> list[str]:
        ready = asyncio.Event()
        task = asyncio.create_task(read(ready))
        await ready.wait()
        await asyncio.to_thread(run, traced)
        kinds = await asyncio.wait_for(task, 30)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return kinds

    assert asyncio.run(program()) == ["request", "chat", "end"]


def test_closing_from_a_thread_ends_a_waiting_task() -> None:
    async def program() -> list[RunEvent]:
        async with RunTrace().events() as events:

            async def read() -> list[RunEvent]:
                return [event async for event in events]

            task = asyncio.create_task(read())
            await asyncio.sleep(0)  # the task has begun to wait
            await asyncio.to_thread(events.close)
            return await asyncio.wait_for(task, 30)

    assert asyncio.run(program()) == []


def test_a_queue_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="maxsize is 0"):
        RunTrace().events(0)

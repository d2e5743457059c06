"""What `RunTrace` weighs in the end, by its own account and by Python's."""

import tracemalloc

from loopspan import RunTrace
from tests.runs.test_bounds import provider

MAX_BYTES = 16 * 1024 * 1024


def test_rc_01_ten_thousand_runs_of_200_kb_stay_within_the_bound() -> None:
    run_trace = RunTrace(max_bytes=MAX_BYTES)
    tracer = provider(run_trace).get_tracer("test")
    facts = {"gen_ai.operation.name": "invoke_agent"}
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        most = 0
        for n in range(10_000):
            attributes = {**facts, "loopspan.run.id": str(n), "text": f"{n:06}" + "x" * 200_000}
            tracer.start_span("invoke_agent", attributes=attributes).end()
            most = max(most, run_trace.stats.bytes)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    stats = run_trace.stats
    assert most <= MAX_BYTES
    assert after - before < MAX_BYTES * 1.1
    assert peak - before < MAX_BYTES * 1.1 + 1_000_000
    assert stats.runs == MAX_BYTES // 201_000
    assert stats.dropped == {"bytes": 10_000 - stats.runs}
    assert run_trace.run_ids()[-1] == "9999"

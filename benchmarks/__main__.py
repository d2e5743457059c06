"""`python -m benchmarks`: print a table of ratios and write `benchmarks/results.json`.

All variants run interleaved in this process; a figure is the median of CPU time, the export thread
included. It never fails on a time.
"""

from __future__ import annotations

import gc
import json
import logging
import math
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import loopspan.configuration
from benchmarks import by_hand
from benchmarks.agent import PROMPT, RESULT, client
from benchmarks.sink import sink
from loopspan import Model, PolicyExporter, RunTrace, ToolLoop, ToolOptions, tool
from loopspan.providers.openai import OpenAI
from loopspan.telemetry.content import Content
from loopspan.telemetry.export import Delivery, ExportProcessor, OtlpExporter
from loopspan.telemetry.export.settings import Settings

REPEATS = 15
loopspan.configuration.MAX_ROUNDS_CEILING = 1000


@tool
def lookup(query: int) -> str:
    """Look something up."""
    return RESULT


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, the figure, and what it should reach."""

    what: str
    value: float
    goal: float | None
    unit: str = ""

    @property
    def text(self) -> str:
        goal = "" if self.goal is None else f"at most {self.goal:g}"
        mark = " " if self.goal is None or self.value <= self.goal else "!"
        return f"{mark} {self.what:<66} {self.value:>9.2f} {self.unit:<4} {goal}"


def loop(
    rounds: int, provider: TracerProvider | None, content: Content, streamed: bool
) -> Callable[[], object]:
    """Return our agent, ready to run."""
    agent = ToolLoop(
        Model(OpenAI(), "bench-1", "http://bench.invalid/v1"),
        [lookup],
        tracer_provider=provider,
        content=content,
        client=client(rounds),
    )
    options = ToolOptions(max_rounds=rounds + 1)

    def run() -> object:
        if not streamed:
            return agent.run(PROMPT, options=options)
        with agent.stream(PROMPT, options=options) as stream:
            return stream.drain()

    return run


def exporting(address: str) -> TracerProvider:
    """Return a provider that exports to the sink."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
    return provider


def exporting_ours(address: str) -> TracerProvider:
    """Return a provider that exports to the sink as `configure()` does, nothing cut or masked."""
    provider, delivery = TracerProvider(shutdown_on_exit=False), Delivery()
    exporter = OtlpExporter(delivery, given=Settings(address))
    policy = PolicyExporter(exporter, content="full")
    provider.add_span_processor(ExportProcessor(policy, delivery))
    return provider


def cpu(
    variants: dict[str, tuple[Callable[[], object], TracerProvider | None]],
) -> dict[str, float]:
    """Return the median CPU seconds of each variant, run in turn."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(REPEATS + 2):
        for name, (run, provider) in variants.items():
            gc.collect()
            before = time.process_time()
            run()
            if provider is not None:
                provider.force_flush()
            times[name].append(time.process_time() - before)
    return {name: statistics.median(values[2:]) for name, values in times.items()}


def added(
    rounds: int, address: str, content: Content, streamed: bool
) -> tuple[float, float, float]:
    """Return what tracing adds against spans by hand, and both loops against the bare one."""
    by_hand_provider, ours = exporting(address), exporting_ours(address)
    tracer = by_hand_provider.get_tracer("by hand")
    bare = client(rounds)
    full = content == "full"
    medians = cpu(
        {
            "bare": (lambda: by_hand.untraced(bare, streamed), None),
            "by hand": (
                lambda: by_hand.traced(bare, tracer, full, streamed),
                by_hand_provider,
            ),
            "untraced": (loop(rounds, None, "off", streamed), None),
            "traced": (loop(rounds, ours, content, streamed), ours),
        }
    )
    by_hand_provider.shutdown()
    ours.shutdown()
    cost = (medians["traced"] - medians["untraced"]) / (medians["by hand"] - medians["bare"])
    return cost, medians["untraced"] / medians["bare"], medians["traced"] / medians["bare"]


class _Kept(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


def exported_bytes(rounds: int) -> int:
    """Return the bytes of a run as OTLP protobuf, content full, nothing cut."""
    provider, kept = TracerProvider(shutdown_on_exit=False), _Kept()
    provider.add_span_processor(kept)
    loop(rounds, provider, "full", False)()
    return len(encode_spans(kept.spans).SerializeToString())


def run_trace_rows(address: str) -> list[Row]:
    """Return the memory of a recorded run, and the time that `RunTrace` takes of a span.

    The `BatchSpanProcessor` beside it, with OpenTelemetry's exporter, is what it is held against.
    """
    runs = 50
    provider, trace = TracerProvider(shutdown_on_exit=False), RunTrace(max_bytes=1 << 40)
    provider.add_span_processor(trace)
    run = loop(10, provider, "full", False)
    run()
    trace.clear()
    gc.collect()
    tracemalloc.start()
    for _ in range(runs):
        run()
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    bare, with_trace = (
        TracerProvider(shutdown_on_exit=False),
        TracerProvider(shutdown_on_exit=False),
    )
    with_trace.add_span_processor(RunTrace())
    with_batches = exporting(address)
    medians = cpu(
        {
            "without": (loop(10, bare, "full", False), None),
            "with": (loop(10, with_trace, "full", False), None),
            "batches": (loop(10, with_batches, "full", False), with_batches),
        }
    )
    with_batches.shutdown()
    time_of_it = medians["with"] - medians["without"]
    time_of_batches = medians["batches"] - medians["without"]
    return [
        Row("RunTrace: memory of a recorded run of 10 rounds", kept / runs / 1000, 40, "kB"),
        Row("RunTrace: time a span", time_of_it / 22 * 1e6, 10, "µs"),
        Row("RunTrace: time / BatchSpanProcessor's", time_of_it / time_of_batches, 1.0),
    ]


def import_ratio() -> float:
    """Return the time of `import loopspan` against that of what it stands on."""
    base = (
        "import httpx, opentelemetry.sdk.trace.export, "
        "opentelemetry.exporter.otlp.proto.http.trace_exporter, pydantic\n"
        "class M(pydantic.BaseModel):\n    a: int\n"
    )

    # Without bytecode on disk our modules would be compiled each time, an installed package's not.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def seconds(code: str) -> float:
        program = f"import time\nt = time.perf_counter()\n{code}\nprint(time.perf_counter() - t)"
        command = [sys.executable, "-c", program]
        runs = [
            subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603
            for _ in range(7)
        ]
        return statistics.median(float(run.stdout) for run in runs)

    return seconds(base + "import loopspan") / seconds(base)


def rows() -> list[Row]:
    """Measure everything."""
    sizes = {rounds: exported_bytes(rounds) for rounds in (10, 40, 80)}
    goals = {10: 40, 40: 150, 80: 300}
    result = [
        Row(f"bytes exported by {n} rounds, content full", size / 1000, goals[n], "kB")
        for n, size in sizes.items()
    ]
    growth = math.log(sizes[80] / sizes[10]) / math.log(80 / 10)
    result.append(Row("growth of exported bytes with the rounds (exponent)", growth, 1.0))
    with sink() as address:
        for rounds, goal in ((10, 0.7), (40, 0.3), (80, 0.25)):
            cost, untraced, traced = added(rounds, address, "full", False)
            result.append(Row(f"CPU tracing adds, {rounds} rounds, full / by hand", cost, goal))
            if rounds == 10:
                result.append(Row("CPU of an untraced run / bare httpx loop", untraced, 1.6))
                result.append(Row("CPU of a traced run / bare httpx loop", traced, 2.4))
        cost, _, _ = added(10, address, "full", True)
        result.append(Row("CPU tracing adds, 10 rounds, full, streamed / by hand", cost, 1.0))
        cost, _, _ = added(10, address, "off", False)
        result.append(Row("CPU tracing adds, 10 rounds, off / by hand without content", cost, 1.2))
        result += run_trace_rows(address)
    result.append(Row("import loopspan / import of what it stands on", import_ratio(), 1.25))
    return result


def main() -> None:
    """Measure, print, write."""
    logging.disable(logging.CRITICAL)
    measured = rows()
    for row in measured:
        print(row.text)
    values = [{"what": r.what, "value": r.value, "goal": r.goal, "unit": r.unit} for r in measured]
    Path(__file__).with_name("results.json").write_text(json.dumps(values, indent=1) + "\n")


if __name__ == "__main__":
    main()

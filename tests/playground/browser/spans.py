"""A run made of plain spans, as long and as large as a test wants it."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import set_span_in_context

from loopspan import RunTrace
from loopspan.telemetry import semconv


class TracedRun:
    """A run of an application, whose tools are called when the test says so."""

    def __init__(self, run_trace: RunTrace, run_id: str = "traced") -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(run_trace)
        self._tracer = provider.get_tracer("loopspan")
        facts = {semconv.OPERATION_NAME: semconv.INVOKE_AGENT, semconv.RUN_ID: run_id}
        self._span = self._tracer.start_span("invoke_agent traced", attributes=facts)
        self._context = set_span_in_context(self._span)
        self._run_id = run_id
        self._count = 0

    def tools(self, count: int, result: str = "done") -> None:
        """Let so many tools be called, one after the other."""
        for _ in range(count):
            self._count += 1
            span = self._tracer.start_span(
                "execute_tool look",
                self._context,
                attributes={
                    semconv.OPERATION_NAME: semconv.EXECUTE_TOOL,
                    semconv.RUN_ID: self._run_id,
                    semconv.ROUND: 1,
                    semconv.TOOL_NAME: "look",
                    semconv.TOOL_CALL_ID: f"call_{self._count}",
                },
            )
            span.set_attribute(semconv.TOOL_CALL_RESULT, result)
            span.end()

    def end(self, outcome: str = "completed") -> None:
        """End the run."""
        self._span.set_attribute(semconv.OUTCOME, outcome)
        self._span.end()

"""The sampler that lets `RunTrace` see every run, whatever share of them is exported."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

from loopspan.telemetry import semconv as names


class KeepForRunTrace(Sampler):
    """Decides as `sampler` does, but a run's span that it drops is recorded and not exported.

    `TracerProvider(sampler=KeepForRunTrace(ParentBased(TraceIdRatioBased(0.01))))` exports one run
    in a hundred, whole, and `RunTrace` has all of them. Spans that belong to no run, those of web
    requests for example, stay dropped. The spans of such a run cost what recorded spans cost.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Return the decision of the application's sampler, `RECORD_ONLY` for a dropped run."""
        decided = self._sampler.should_sample(
            parent_context, trace_id, name, kind, attributes, links, trace_state
        )
        if decided.decision is not Decision.DROP or not attributes:
            return decided
        if names.RUN_ID not in attributes:
            return decided
        return SamplingResult(Decision.RECORD_ONLY, attributes, decided.trace_state)

    def get_description(self) -> str:
        """Name this sampler and the application's."""
        return f"KeepForRunTrace{{{self._sampler.get_description()}}}"

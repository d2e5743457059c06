"""The metrics of a run: the conventions' own and ours, on the OpenTelemetry metrics API.

They are recorded when an operation ends, whether or not its span is sampled, within the context
of the span, so that exemplars lead to the trace. No label holds content, a user or a run.
Source of names and buckets: `docs/gen-ai/gen-ai-metrics.md` of the conventions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TypeAlias
from weakref import WeakKeyDictionary

from opentelemetry.context import Context
from opentelemetry.metrics import (
    Counter,
    Histogram,
    Meter,
    MeterProvider,
    NoOpMeter,
    get_meter_provider,
)

from loopspan.messages import Reply
from loopspan.telemetry import semconv as names
from loopspan.telemetry.cost import Cost

Labels: TypeAlias = Mapping[str, str | int]

SECONDS = tuple(0.01 * 2**n for n in range(14))
RUN_SECONDS = tuple(0.1 * 2**n for n in range(13))
TOKENS = tuple(4.0**n for n in range(14))
CALLS = tuple(2.0**n for n in range(8))

OTHER = "_OTHER"
"""A label's value in place of one that could be anything, as the conventions have it."""

FINISH_REASONS = frozenset({"stop", "length", "tool_call", "content_filter", "error"})
_WORD = re.compile(r"[\w.]{1,100}", re.ASCII)


class Instruments:
    """The instruments of one meter."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._duration = self._histogram(names.INFERENCE_DURATION, "s", SECONDS)
        self._first_chunk = self._histogram(names.INFERENCE_TIME_TO_FIRST_CHUNK, "s", SECONDS)
        self._next_chunk = self._histogram(names.INFERENCE_TIME_PER_OUTPUT_CHUNK, "s", SECONDS)
        self._input = self._histogram(names.OPERATION_INPUT_TOKENS, "{token}", TOKENS)
        self._output = self._histogram(names.OPERATION_OUTPUT_TOKENS, "{token}", TOKENS)
        self._usage = {
            name: self._counter(name, "{token}")
            for name in (
                names.INFERENCE_INPUT_TOKENS,
                names.INFERENCE_OUTPUT_TOKENS,
                names.INFERENCE_CACHE_READ,
                names.INFERENCE_CACHE_WRITE,
                names.INFERENCE_REASONING,
            )
        }
        self._finish_reasons = self._counter(names.CHAT_FINISH_REASONS, "{choice}")
        self._retries = self._counter(names.CHAT_RETRIES, "{retry}")
        self._cost = self._counter(names.COST_USD, "{USD}")
        self._unknown_cost = self._counter(names.COST_UNKNOWN, "{reply}")
        self._runs = self._counter(names.RUNS, "{run}")
        self._run_duration = self._histogram(names.AGENT_DURATION, "s", RUN_SECONDS)
        self._rounds = self._histogram(names.AGENT_INFERENCE_CALLS, "{inference_call}", CALLS)
        self._tool_calls = self._histogram(names.AGENT_TOOL_CALLS, "{tool_call}", CALLS)
        self._tool_duration = self._histogram(names.TOOL_DURATION, "s", SECONDS)
        self._old_duration = self._histogram(names.OLD_DURATION, "s", SECONDS)
        self._old_first_chunk = self._histogram(names.OLD_TIME_TO_FIRST_CHUNK, "s", SECONDS)
        self._old_next_chunk = self._histogram(names.OLD_TIME_PER_OUTPUT_CHUNK, "s", SECONDS)
        self._old_tokens = self._histogram(names.OLD_TOKEN_USAGE, "{token}", TOKENS)

    def _histogram(self, name: str, unit: str, bounds: Sequence[float]) -> Histogram:
        return self._meter.create_histogram(
            name, unit, explicit_bucket_boundaries_advisory=list(bounds)
        )

    def _counter(self, name: str, unit: str) -> Counter:
        return self._meter.create_counter(name, unit)

    def chat(
        self,
        context: Context,
        labels: Labels,
        seconds: float,
        error_type: str | None,
        chunks: Sequence[float],
        retries: int,
        compat: bool,
    ) -> None:
        """Record a round-trip, whatever came of it.

        `chunks` are the seconds to the first chunk of a stream, then between one and the next.
        """
        ended = _with_error(labels, error_type)
        durations = [self._duration, self._old_duration] if compat else [self._duration]
        for each in durations:
            each.record(seconds, ended, context)
        for i, gap in enumerate(chunks):
            (self._next_chunk if i else self._first_chunk).record(gap, labels, context)
            if compat:
                old = self._old_next_chunk if i else self._old_first_chunk
                old.record(gap, labels, context)
        if retries:
            self._retries.add(retries, labels, context)

    def reply(
        self, context: Context, labels: Labels, reply: Reply, cost: Cost, agent: str | None
    ) -> None:
        """Record what a reply reported; what it did not report is no zero."""
        usage = reply.usage
        counts = {
            names.INFERENCE_INPUT_TOKENS: usage.input_tokens,
            names.INFERENCE_OUTPUT_TOKENS: usage.output_tokens,
            names.INFERENCE_CACHE_READ: usage.cache_read_input_tokens,
            names.INFERENCE_CACHE_WRITE: usage.cache_write_input_tokens,
            names.INFERENCE_REASONING: usage.reasoning_output_tokens,
        }
        of_any_kind = {**labels, names.TOKEN_MODALITY: "unknown"}
        for name, count in counts.items():
            if count is not None:
                self._usage[name].add(count, of_any_kind, context)
        if usage.input_tokens is not None:
            self._input.record(usage.input_tokens, labels, context)
        if usage.output_tokens is not None:
            self._output.record(usage.output_tokens, labels, context)
        self._cost_of(context, _of_agent(labels, agent), cost)

    def _cost_of(self, context: Context, labels: Labels, cost: Cost) -> None:
        if cost.usd is None:
            missing = {} if cost.missing is None else {names.COST_MISSING: cost.missing}
            self._unknown_cost.add(1, {**labels, **missing}, context)
        elif cost.usd >= 0:
            source = {} if cost.source is None else {names.COST_SOURCE: cost.source}
            self._cost.add(cost.usd, {**labels, **source}, context)

    def finish_reasons(self, context: Context, labels: Labels, reasons: Sequence[str]) -> None:
        """Record how the choices of a reply ended."""
        for reason in reasons:
            told = reason if reason in FINISH_REASONS else OTHER
            self._finish_reasons.add(1, {**labels, names.FINISH_REASON: told}, context)

    def older_tokens(self, context: Context, labels: Labels, reply: Reply) -> None:
        """Record the token counts of a reply under the older name."""
        counts = {"input": reply.usage.input_tokens, "output": reply.usage.output_tokens}
        for kind, count in counts.items():
            if count is not None:
                self._old_tokens.record(count, {**labels, names.TOKEN_TYPE: kind}, context)

    def tool(
        self,
        context: Context,
        name: str | None,
        agent: str | None,
        seconds: float,
        error_type: str | None,
    ) -> None:
        """Record a tool call; `name` is `None` for a tool that there is not."""
        labels = {names.TOOL_NAME: name or OTHER, names.TOOL_TYPE: "function"}
        ended = _with_error(_of_agent(labels, agent), error_type)
        self._tool_duration.record(seconds, ended, context)

    def run(
        self,
        context: Context,
        agent: str | None,
        model: str | None,
        outcome: str,
        seconds: float,
        calls: tuple[int, int] | None,
        error_type: str | None,
    ) -> None:
        """Record a run; `calls` are its calls of the model and of tools, `None` of a dry run."""
        named = _of_agent({}, agent)
        self._runs.add(1, {**named, names.OUTCOME: outcome}, context)
        if calls is None:
            return
        asked = named if model is None else {**named, names.REQUEST_MODEL: model}
        self._run_duration.record(seconds, _with_error(asked, error_type), context)
        rounds, tool_calls = calls
        self._rounds.record(rounds, named, context)
        self._tool_calls.record(tool_calls, named, context)


def _of_agent(labels: Labels, agent: str | None) -> Labels:
    return labels if agent is None else {**labels, names.AGENT_NAME: agent}


def _with_error(labels: Labels, error_type: str | None) -> Labels:
    """Return the labels with the error; a provider's own code may be anything, even content."""
    if error_type is None:
        return labels
    told = error_type if _WORD.fullmatch(error_type) else OTHER
    return {**labels, names.ERROR_TYPE: told}


_instruments: WeakKeyDictionary[MeterProvider, Instruments | None] = WeakKeyDictionary()
_lock = Lock()


def instruments(provider: MeterProvider | None, version: str) -> Instruments | None:
    """Return the instruments of this provider, else of the global one; `None` while it is unset."""
    if provider is None:
        if not has_meter_provider():
            return None
        provider = get_meter_provider()
    with _lock:
        if provider not in _instruments:
            meter = provider.get_meter("loopspan", version, names.SCHEMA_URL)
            is_off = isinstance(meter, NoOpMeter)
            _instruments[provider] = None if is_off else Instruments(meter)
        return _instruments[provider]


def has_meter_provider() -> bool:
    """Return whether the program has set a global meter provider."""
    # The stand-in for one that is not set yet has no public name in the API.
    return type(get_meter_provider()).__name__ != "_ProxyMeterProvider"

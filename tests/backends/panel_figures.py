"""What each panel must show, summed up from spans alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from opentelemetry.sdk.trace import ReadableSpan

from dashboards.generate.promql import label
from loopspan.telemetry import semconv as names
from loopspan.telemetry.metrics import RUN_SECONDS, SECONDS, TOKENS
from tests.backends.scripted_traffic import Labels, Spans, Weight, one, ratio, seconds, told

Figures: TypeAlias = Mapping[Labels, float]
By: TypeAlias = Callable[[ReadableSpan], tuple[str, str | None]]

ALL: Labels = frozenset()
QUEUE_FULL: Labels = frozenset({(names.DROP_REASON, "queue_full")})
KNOWN_TOOLS = {"look", "fail"}


def by(name: str) -> By:
    """Group by an attribute, as Prometheus names it."""
    return lambda span: (label(name), told(span, name))


def of(name: str) -> Weight:
    """The weight that an attribute is."""
    return lambda span: told(span, name)


def by_tool(span: ReadableSpan) -> tuple[str, str | None]:
    """Group by tool; one that there is not is `_OTHER`."""
    name = told(span, names.TOOL_NAME)
    return label(names.TOOL_NAME), name if name in KNOWN_TOOLS else "_OTHER"


def by_reason(span: ReadableSpan) -> tuple[str, str | None]:
    """Group by the finish reason; these replies have one choice each."""
    reasons = told(span, names.RESPONSE_FINISH_REASONS)
    return label(names.FINISH_REASON), reasons[0] if reasons else None


def failed(span: ReadableSpan) -> bool:
    return told(span, names.ERROR_TYPE) is not None


def outcome(*wanted: str) -> Callable[[ReadableSpan], bool]:
    return lambda span: told(span, names.OUTCOME) in wanted


def retries(span: ReadableSpan) -> float:
    return sum(event.name == names.RETRY_EVENT for event in span.events)


def or_zero(figures: Figures) -> Figures:
    return figures or {ALL: 0.0}


def heat(spans: Spans) -> Figures:
    """How many took at most as long as each bound says."""
    took = [seconds(span) for span in spans.spans]
    bounds = {f"{bound:g}": bound for bound in SECONDS} | {"+Inf": float("inf")}
    return {frozenset({("le", n)}): float(sum(t <= b for t in took)) for n, b in bounds.items()}


Table: TypeAlias = Mapping[tuple[str, str], Sequence[Figures]]


def runs(spans: Sequence[ReadableSpan], dropped: Mapping[str, float]) -> Table:
    """The panels of *Runs* by kind and title, and what each of their queries gives."""
    run = Spans.of(spans, names.INVOKE_AGENT)
    agent = by(names.AGENT_NAME)
    bad = run.where(outcome("error", "blocked"))
    cut = run.where(outcome("max_rounds", "length"))

    def mean(name: str, *groups: Any) -> Figures:
        return ratio(run.total(of(name), *groups), run.total(one, *groups))

    return {
        ("stat", "Runs"): [run.total()],
        ("stat", "Failed runs"): [ratio(bad.total(), run.total())],
        ("stat", "Runs cut short"): [ratio(cut.total(), run.total())],
        ("stat", "p95 duration"): [run.quantile(0.95, RUN_SECONDS, seconds)],
        ("stat", "Rounds a run"): [mean(names.ROUNDS)],
        ("stat", "Cost"): [run.total(of(names.COST_USD))],
        ("timeseries", "Runs by agent"): [run.total(one, agent)],
        ("timeseries", "Runs by outcome"): [run.total(one, by(names.OUTCOME))],
        ("timeseries", "Failed runs by agent"): [
            ratio(bad.total(one, agent), run.total(one, agent))
        ],
        ("timeseries", "Duration"): [
            run.quantile(q, RUN_SECONDS, seconds) for q in (0.5, 0.95, 0.99)
        ],
        ("timeseries", "Duration p95 by agent"): [run.quantile(0.95, RUN_SECONDS, seconds, agent)],
        ("timeseries", "Rounds a run"): [mean(names.ROUNDS, agent)],
        ("timeseries", "Tool calls a run"): [mean(names.TOOL_CALLS, agent)],
        ("timeseries", "Lost by the recorder and the export"): [
            {QUEUE_FULL: dropped[names.RECORDER_DROPPED]},
            {QUEUE_FULL: dropped[names.EXPORT_DROPPED]},
        ],
    }


def models(spans: Sequence[ReadableSpan]) -> Table:
    """The same of *Models and cost*."""
    chat, run = Spans.of(spans, names.CHAT), Spans.of(spans, names.INVOKE_AGENT)
    model, error = by(names.REQUEST_MODEL), by(names.ERROR_TYPE)
    cost, unpriced = of(names.COST_USD), chat.where(lambda s: bool(told(s, names.COST_MISSING)))
    read, put = of(names.USAGE_INPUT_TOKENS), of(names.USAGE_OUTPUT_TOKENS)
    replies = chat.where(lambda s: told(s, names.RESPONSE_FINISH_REASONS) is not None)
    kinds = [
        *(read, put, of(names.USAGE_CACHE_READ), of(names.USAGE_CACHE_WRITE)),
        of(names.USAGE_REASONING),
    ]
    streamed = of(names.RESPONSE_TIME_TO_FIRST_CHUNK)
    missing = by(names.COST_MISSING)
    cut = replies.where(lambda s: told(s, names.RESPONSE_FINISH_REASONS)[0] == "length")
    return {
        ("stat", "Cost"): [chat.total(cost)],
        ("stat", "Cost a run"): [ratio(chat.total(cost), run.total())],
        ("stat", "Replies without a price"): [unpriced.total()],
        ("stat", "Round-trips"): [chat.total()],
        ("stat", "Input tokens"): [chat.total(read)],
        ("stat", "Output tokens"): [chat.total(put)],
        ("stat", "From cache"): [ratio(chat.total(kinds[2]), chat.total(read))],
        ("stat", "Retries"): [chat.total(retries)],
        ("timeseries", "Cost by model"): [chat.total(cost, model)],
        ("bargauge", "Cost by agent"): [run.total(cost, by(names.AGENT_NAME))],
        ("timeseries", "Replies without a price"): [unpriced.total(one, model, missing)],
        ("timeseries", "Round-trip p95 by model"): [chat.quantile(0.95, SECONDS, seconds, model)],
        ("timeseries", "First chunk p95 by model"): [chat.quantile(0.95, SECONDS, streamed, model)],
        ("heatmap", "Round-trips by duration"): [heat(chat)],
        ("timeseries", "Input and output tokens"): [chat.total(read), chat.total(put)],
        ("timeseries", "Tokens by kind"): [chat.total(kind) for kind in kinds],
        ("bargauge", "Tokens by model"): [chat.total(read, model), chat.total(put, model)],
        ("timeseries", "Input a round-trip, p95 by model"): [
            chat.quantile(0.95, TOKENS, read, model)
        ],
        ("bargauge", "Finish reasons"): [replies.total(one, by_reason)],
        ("timeseries", "Cut replies by model"): [
            ratio(cut.total(one, model), replies.total(one, model))
        ],
        ("timeseries", "Failed round-trips"): [chat.where(failed).total(one, model, error)],
    }


def tools(spans: Sequence[ReadableSpan]) -> Table:
    """The same of *Tools*."""
    call = Spans.of(spans, names.EXECUTE_TOOL)
    bad, error = call.where(failed), by(names.ERROR_TYPE)
    return {
        ("stat", "Calls"): [call.total()],
        ("stat", "Failed calls"): [ratio(bad.total(), call.total())],
        ("stat", "p95 duration"): [call.quantile(0.95, SECONDS, seconds)],
        ("timeseries", "Calls by tool"): [call.total(one, by_tool)],
        ("bargauge", "Calls by tool, all"): [call.total(one, by_tool)],
        ("timeseries", "Failed calls by tool"): [
            ratio(bad.total(one, by_tool), call.total(one, by_tool))
        ],
        ("bargauge", "Failures by kind"): [bad.total(one, by_tool, error)],
        ("timeseries", "Duration p95 by tool"): [call.quantile(0.95, SECONDS, seconds, by_tool)],
    }

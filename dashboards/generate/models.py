"""The dashboard *Models and cost*: latency, tokens, money, and how replies end."""

from __future__ import annotations

from dashboards.generate.dashboard import MODEL, SERVICE, dashboard, field, spans
from dashboards.generate.panels import (
    JSON,
    Query,
    Row,
    bars,
    by_label,
    heatmap,
    lines,
    stat,
    traces_table,
)
from dashboards.generate.promql import (
    RANGE,
    STEP,
    label,
    quantile,
    ratio,
    series,
    summed,
    zero_if_none,
)
from loopspan.telemetry import semconv as names

EACH_MODEL = f"{{{{{label(names.REQUEST_MODEL)}}}}}"
KINDS = {
    "input": names.INFERENCE_INPUT_TOKENS,
    "output": names.INFERENCE_OUTPUT_TOKENS,
    "input from cache": names.INFERENCE_CACHE_READ,
    "input into cache": names.INFERENCE_CACHE_WRITE,
    "output spent on reasoning": names.INFERENCE_REASONING,
}
"""Kinds of tokens; all but the first two are parts of these, so the five are never added up."""

OF_MODEL = spans(names.CHAT, field(names.REQUEST_MODEL))


def _total(metric: str, window: str, *by: str, where: str = "") -> str:
    suffix = "_count" if metric == names.INFERENCE_DURATION else ""
    return summed(series(metric, suffix, where=where, every=MODEL), window, by)


def _quantile(metric: str, q: float, window: str, *by: str) -> str:
    return quantile(q, series(metric, "_bucket", every=MODEL), window, by)


def _cache_hits(window: str, *by: str) -> str:
    read = _total(names.INFERENCE_CACHE_READ, window, *by)
    return ratio(read, _total(names.INFERENCE_INPUT_TOKENS, window, *by))


def _figures() -> list[JSON]:
    runs = summed(series(names.AGENT_DURATION, "_count", every=SERVICE), RANGE)
    cost = _total(names.COST_USD, RANGE)
    return [
        stat("Cost", zero_if_none(cost), "What is known of it.", unit="currencyUSD"),
        stat("Cost a run", ratio(cost, runs), "The mean, over all agents.", unit="currencyUSD"),
        stat(
            "Replies without a price",
            zero_if_none(_total(names.COST_UNKNOWN, RANGE)),
            "Their cost is in no figure: give the model a price in the catalogue.",
            red_from=1,
            traces=spans(names.CHAT, f"span.{names.COST_MISSING} != nil"),
        ),
        stat(
            "Round-trips", zero_if_none(_total(names.INFERENCE_DURATION, RANGE)), "Replies or not."
        ),
        stat("Input tokens", zero_if_none(_total(KINDS["input"], RANGE)), "Cached ones included."),
        stat("Output tokens", zero_if_none(_total(KINDS["output"], RANGE)), "Reasoning included."),
        stat("From cache", _cache_hits(RANGE), "The part of the input.", unit="percentunit"),
        stat(
            "Retries",
            zero_if_none(_total(names.CHAT_RETRIES, RANGE)),
            "Requests that were sent again.",
        ),
    ]


def _money() -> list[JSON]:
    agents = summed(series(names.COST_USD, every=MODEL), RANGE, (names.AGENT_NAME,))
    return [
        bars(
            "Cost by model",
            [Query(_total(names.COST_USD, STEP, names.REQUEST_MODEL), EACH_MODEL)],
            "US dollars in each step.",
            unit="currencyUSD",
            traces=OF_MODEL,
        ),
        by_label(
            "Cost by agent",
            [Query(agents, f"{{{{{label(names.AGENT_NAME)}}}}}")],
            "US dollars over the time that is shown.",
            unit="currencyUSD",
            traces=spans(names.INVOKE_AGENT, field(names.AGENT_NAME)),
        ),
        bars(
            "Replies without a price",
            [
                Query(
                    _total(names.COST_UNKNOWN, STEP, names.REQUEST_MODEL, names.COST_MISSING),
                    f"{EACH_MODEL}: {{{{{label(names.COST_MISSING)}}}}}",
                )
            ],
            "And why there is none.",
            traces=OF_MODEL,
        ),
    ]


def _latency() -> list[JSON]:
    first = names.INFERENCE_TIME_TO_FIRST_CHUNK
    model = names.REQUEST_MODEL
    bucket = series(names.INFERENCE_DURATION, "_bucket", every=MODEL)
    return [
        lines(
            "Round-trip p95 by model",
            [Query(_quantile(names.INFERENCE_DURATION, 0.95, STEP, model), EACH_MODEL)],
            "Retries included.",
            unit="s",
            traces=OF_MODEL,
        ),
        lines(
            "First chunk p95 by model",
            [Query(_quantile(first, 0.95, STEP, model), EACH_MODEL)],
            "Streams only.",
            unit="s",
            traces=OF_MODEL,
        ),
        heatmap(
            "Round-trips by duration", summed(bucket, STEP, ("le",)), "How many took how long."
        ),
    ]


def _tokens() -> list[JSON]:
    model = (names.REQUEST_MODEL,)
    return [
        bars(
            "Input and output tokens",
            [Query(_total(KINDS[kind], STEP), kind) for kind in ("input", "output")],
            "In each step.",
        ),
        lines(
            "Tokens by kind",
            [Query(_total(metric, STEP), kind) for kind, metric in KINDS.items()],
            "Those from and into a cache are part of the input, reasoning is part of the output.",
        ),
        by_label(
            "Tokens by model",
            [
                Query(_total(KINDS[kind], RANGE, *model), f"{EACH_MODEL} {kind}")
                for kind in ("input", "output")
            ],
            "Over the time that is shown.",
            traces=OF_MODEL,
        ),
        lines(
            "Input a round-trip, p95 by model",
            [Query(_quantile(names.OPERATION_INPUT_TOKENS, 0.95, STEP, *model), EACH_MODEL)],
            "A steady rise says that dialogues or tool results grow.",
            traces=OF_MODEL,
        ),
    ]


def _endings() -> list[JSON]:
    reason, error = names.FINISH_REASON, names.ERROR_TYPE
    cut = f'{label(reason)}="length"'
    each = (names.REQUEST_MODEL,)
    reasons = names.CHAT_FINISH_REASONS
    return [
        by_label(
            "Finish reasons",
            [Query(_total(reasons, RANGE, reason), f"{{{{{label(reason)}}}}}")],
            "How the choices ended, over the time that is shown.",
        ),
        lines(
            "Cut replies by model",
            [Query(ratio(_total(reasons, STEP, *each, where=cut), _total(reasons, STEP, *each)))],
            "The part that `length` ended: raise `max_tokens`, or ask for less.",
            unit="percentunit",
            traces=spans(names.CHAT, f'span.{names.RESPONSE_FINISH_REASONS} = "length"'),
        ),
        bars(
            "Failed round-trips",
            [
                Query(
                    _total(
                        names.INFERENCE_DURATION, STEP, *each, error, where=f'{label(error)}!=""'
                    ),
                    f"{EACH_MODEL}: {{{{{label(error)}}}}}",
                )
            ],
            "After all retries; the number is the HTTP status.",
            traces=spans(names.CHAT, field(error)),
        ),
    ]


def models() -> JSON:
    """Return the dashboard."""
    shown = (names.COST_USD, names.REQUEST_MODEL, names.USAGE_INPUT_TOKENS, names.RUN_ID)
    table = traces_table(
        "Most expensive round-trips",
        spans(names.CHAT, f"span.{names.COST_USD} > 0.001", select=shown),
        "Of those that Tempo returns; raise the bound in the query where there are too many.",
        sort=names.COST_USD,
    )
    rows = [
        Row(None, 4, _figures()),
        Row("Money", 8, _money()),
        Row("Latency", 8, _latency()),
        Row("Tokens", 8, _tokens()),
        Row("Endings", 8, _endings()),
        Row("Which round-trips", 9, [table]),
    ]
    text = "What the models cost, how fast they answer, what they are asked and how they end."
    return dashboard("loopspan-models", "Models and cost", text, ("service", "model"), rows)

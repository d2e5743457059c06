"""The dashboard *Runs*: how many, how they end, how long they take, which to look at."""

from __future__ import annotations

from dashboards.generate.dashboard import AGENT, SERVICE, dashboard, field, spans
from dashboards.generate.panels import JSON, Query, Row, bars, lines, stat, traces_table
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

REAL = f'{label(names.OUTCOME)}!="dry_run"'
CUT = f'{label(names.OUTCOME)}=~"max_rounds|budget_.*|length"'
FAILED = f'{label(names.OUTCOME)}=~"error|blocked"'
EACH_AGENT = f"{{{{{label(names.AGENT_NAME)}}}}}"
REASON = f"{{{{{label(names.DROP_REASON)}}}}}"
SHOWN = (names.COST_USD, names.AGENT_NAME, names.ROUNDS, names.OUTCOME, names.RUN_ID)


def _runs(where: str, window: str, *by: str) -> str:
    return summed(series(names.RUNS, where=where, every=AGENT), window, by)


def _mean(metric: str, window: str, *by: str) -> str:
    total = summed(series(metric, "_sum", every=AGENT), window, by)
    return ratio(total, summed(series(metric, "_count", every=AGENT), window, by))


def _seconds(q: float, window: str, *by: str) -> str:
    return quantile(q, series(names.AGENT_DURATION, "_bucket", every=AGENT), window, by)


def _cost(window: str, *by: str) -> str:
    return summed(series(names.COST_USD, every=AGENT), window, by)


def _lost(metric: str) -> str:
    return summed(series(metric, every=SERVICE), STEP, (names.DROP_REASON,))


def runs() -> JSON:
    """Return the dashboard."""
    agent = (names.AGENT_NAME,)
    of_agent = spans(names.INVOKE_AGENT, field(names.AGENT_NAME))
    failed = spans(names.INVOKE_AGENT, "span:status = error")
    figures = [
        stat(
            "Runs", zero_if_none(_runs(REAL, RANGE)), "Runs that ended; dry runs are not counted."
        ),
        stat(
            "Failed runs",
            f"{zero_if_none(_runs(FAILED, RANGE))} / clamp_min({_runs(REAL, RANGE)}, 1)",
            "The part that ended in an error or was blocked.",
            unit="percentunit",
            red_from=0.05,
            traces=failed,
        ),
        stat(
            "Runs cut short",
            f"{zero_if_none(_runs(CUT, RANGE))} / clamp_min({_runs(REAL, RANGE)}, 1)",
            "The part that a bound ended: rounds, a budget, or the length of the answer.",
            unit="percentunit",
            red_from=0.1,
            traces=spans(names.INVOKE_AGENT, f'span.{names.OUTCOME} = "max_rounds"'),
        ),
        stat("p95 duration", _seconds(0.95, RANGE), "19 of 20 runs took less.", unit="s"),
        stat("Rounds a run", _mean(names.AGENT_INFERENCE_CALLS, RANGE), "The mean."),
        stat("Cost", zero_if_none(_cost(RANGE)), "What is known of it.", unit="currencyUSD"),
    ]
    traffic = [
        bars(
            "Runs by agent",
            [Query(_runs(REAL, STEP, *agent), EACH_AGENT)],
            "Runs that ended in each step.",
            traces=of_agent,
        ),
        bars(
            "Runs by outcome",
            [Query(_runs(REAL, STEP, names.OUTCOME), f"{{{{{label(names.OUTCOME)}}}}}")],
            "How they ended. Few that are `abandoned` are normal for streams.",
            traces=spans(names.INVOKE_AGENT, field(names.OUTCOME)),
        ),
    ]
    quality = [
        lines(
            "Failed runs by agent",
            [Query(ratio(_runs(FAILED, STEP, *agent), _runs(REAL, STEP, *agent)), EACH_AGENT)],
            "The part that failed in each step.",
            unit="percentunit",
            traces=f"{of_agent[:-2]} && span:status = error }}",
        ),
        lines(
            "Duration",
            [Query(_seconds(q, STEP), f"p{q * 100:.0f}") for q in (0.5, 0.95, 0.99)],
            "From the first request to the last answer, tools included.",
            unit="s",
            traces=spans(names.INVOKE_AGENT, "span:duration > 30s"),
        ),
        lines(
            "Duration p95 by agent",
            [Query(_seconds(0.95, STEP, *agent), EACH_AGENT)],
            "19 of 20 runs took less.",
            unit="s",
            traces=of_agent,
        ),
    ]
    size = [
        lines(
            "Rounds a run",
            [Query(_mean(names.AGENT_INFERENCE_CALLS, STEP, *agent), EACH_AGENT)],
            "The mean. A rise says that a tool or a prompt does not help any more.",
            traces=of_agent,
        ),
        lines(
            "Tool calls a run",
            [Query(_mean(names.AGENT_TOOL_CALLS, STEP, *agent), EACH_AGENT)],
            "The mean, failed and refused calls included.",
            traces=of_agent,
        ),
        bars(
            "Lost by the recorder and the export",
            [
                Query(_lost(names.RECORDER_DROPPED), f"recorder: {REASON}"),
                Query(_lost(names.EXPORT_DROPPED), f"export: {REASON}"),
            ],
            "Runs that a RunTrace gave up, spans that were not exported; counted above anyway.",
        ),
    ]
    tables = [
        traces_table(
            "Most expensive runs",
            spans(names.INVOKE_AGENT, f"span.{names.COST_USD} > 0.01", select=SHOWN),
            "Of those that Tempo returns; raise the bound in the query where there are too many.",
            sort=names.COST_USD,
        ),
        traces_table(
            "Slowest runs",
            spans(names.INVOKE_AGENT, "span:duration > 5s", select=SHOWN),
            "Of those that Tempo returns; raise the bound in the query where there are too many.",
            sort="Duration",
        ),
    ]
    failures = [
        traces_table(
            "Failed runs",
            spans(
                names.INVOKE_AGENT,
                "span:status = error",
                select=(names.ERROR_TYPE, names.AGENT_NAME, names.ROUNDS, names.RUN_ID),
            ),
            "What failed, and the trace of it.",
            sort="Start time",
        )
    ]
    rows = [
        Row(None, 4, figures),
        Row("Traffic", 8, traffic),
        Row("Quality", 8, quality),
        Row("Size", 8, size),
        Row("Which runs", 9, tables),
        Row(None, 8, failures),
    ]
    text = "How many runs there are, how they end, how long they take, what they cost."
    return dashboard("loopspan-runs", "Runs", text, ("service", "agent"), rows)

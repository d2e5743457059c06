"""The dashboard *Tools*: what is called, what fails, what is slow."""

from __future__ import annotations

from dashboards.generate.dashboard import TOOL, dashboard, field, spans
from dashboards.generate.panels import JSON, Query, Row, bars, by_label, lines, stat, traces_table
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

EACH_TOOL = f"{{{{{label(names.TOOL_NAME)}}}}}"
FAILED = f'{label(names.ERROR_TYPE)}!=""'
OF_TOOL = spans(names.EXECUTE_TOOL, field(names.TOOL_NAME))


def _calls(window: str, *by: str, where: str = "") -> str:
    return summed(series(names.TOOL_DURATION, "_count", where=where, every=TOOL), window, by)


def _seconds(q: float, window: str, *by: str) -> str:
    return quantile(q, series(names.TOOL_DURATION, "_bucket", every=TOOL), window, by)


def tools() -> JSON:
    """Return the dashboard."""
    tool, error = names.TOOL_NAME, names.ERROR_TYPE
    failed = f"{zero_if_none(_calls(RANGE, where=FAILED))} / clamp_min({_calls(RANGE)}, 1)"
    any_failure = spans(names.EXECUTE_TOOL, "span:status = error")
    figures = [
        stat("Calls", zero_if_none(_calls(RANGE)), "Refused ones included."),
        stat(
            "Failed calls",
            failed,
            "The part that raised, was refused, timed out or had wrong arguments.",
            unit="percentunit",
            red_from=0.1,
            traces=any_failure,
        ),
        stat("p95 duration", _seconds(0.95, RANGE), "19 of 20 calls took less.", unit="s"),
    ]
    use = [
        bars(
            "Calls by tool",
            [Query(_calls(STEP, tool), EACH_TOOL)],
            "`_OTHER` is a tool that there is not: the model made it up.",
            traces=OF_TOOL,
        ),
        by_label(
            "Calls by tool, all",
            [Query(_calls(RANGE, tool), EACH_TOOL)],
            "Over the time that is shown. What is never called need not be offered.",
            traces=OF_TOOL,
        ),
    ]
    quality = [
        lines(
            "Failed calls by tool",
            [Query(ratio(_calls(STEP, tool, where=FAILED), _calls(STEP, tool)), EACH_TOOL)],
            "The part of its calls in each step.",
            unit="percentunit",
            traces=f"{OF_TOOL[:-2]} && span:status = error }}",
        ),
        by_label(
            "Failures by kind",
            [
                Query(
                    _calls(RANGE, tool, error, where=FAILED),
                    f"{EACH_TOOL}: {{{{{label(error)}}}}}",
                )
            ],
            "`tool_refused` is a permission, `invalid_arguments` a schema that the model misreads.",
            traces=f"{OF_TOOL[:-2]} && {field(error)} }}",
        ),
        lines(
            "Duration p95 by tool",
            [Query(_seconds(0.95, STEP, tool), EACH_TOOL)],
            "19 of 20 calls took less.",
            unit="s",
            traces=OF_TOOL,
        ),
    ]
    shown = (tool, error, names.AGENT_NAME, names.RUN_ID)
    tables = [
        traces_table(
            "Failed calls",
            spans(names.EXECUTE_TOOL, "span:status = error", select=shown),
            "What failed, and the trace of it.",
            sort="Start time",
        ),
        traces_table(
            "Slowest calls",
            spans(names.EXECUTE_TOOL, "span:duration > 1s", select=shown),
            "Of those that Tempo returns; raise the bound in the query where there are too many.",
            sort="Duration",
        ),
    ]
    rows = [
        Row(None, 4, figures),
        Row("Use", 8, use),
        Row("Quality", 8, quality),
        Row("Which calls", 9, tables),
    ]
    text = "Which tools are called, which fail, which are slow."
    return dashboard("loopspan-tools", "Tools", text, ("service", "agent", "tool"), rows)

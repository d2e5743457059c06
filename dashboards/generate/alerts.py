"""Alert rules for Prometheus, after the panels of the same name."""

from __future__ import annotations

from typing import Any

from dashboards.generate.promql import grown, label, series, summed
from loopspan.telemetry import semconv as names

WINDOW = "15m"
FEW = 10
"""No ratio is looked at below this many runs or calls in the window."""


def _told(name: str) -> str:
    """Return how a text of an alert names a label of it."""
    return f"{{{{ $labels.{label(name)} }}}}"


_AGENT_LABEL = _told(names.AGENT_NAME)
_TOOL_LABEL = _told(names.TOOL_NAME)
_MODEL_LABEL = _told(names.REQUEST_MODEL)
_AGENT = (names.AGENT_NAME,)
_TOOL = (names.TOOL_NAME,)


def alerts() -> dict[str, Any]:
    """Return the rules file."""
    rules = [_failing(), _cut(), _tools(), _unpriced(), _cost(), *_dropped()]
    return {"groups": [{"name": "loopspan", "interval": "1m", "rules": rules}]}


def _rule(name: str, expr: str, after: str, severity: str, summary: str, todo: str) -> Any:
    return {
        "alert": name,
        "expr": expr,
        "for": after,
        "labels": {"severity": severity},
        "annotations": {"summary": summary, "description": todo},
    }


def _of_runs(where: str) -> str:
    outcome = label(names.OUTCOME)
    part = summed(series(names.RUNS, where=where.format(outcome)), WINDOW, _AGENT)
    whole = summed(series(names.RUNS, where=f'{outcome}!="dry_run"'), WINDOW, _AGENT)
    return f"{part} / ({whole} >= {FEW})"


def _failing() -> Any:
    return _rule(
        "LoopspanRunsFailing",
        f"{_of_runs('{}=~' + _quoted('error|blocked'))} > 0.1",
        "5m",
        "critical",
        "{{ $value | humanizePercentage }} of the runs of " + _AGENT_LABEL + " fail",
        "Open Runs, Failed runs. One error type: the provider. Many: the last change.",
    )


def _cut() -> Any:
    return _rule(
        "LoopspanRunsCutAtMaxRounds",
        f"{_of_runs('{}=' + _quoted('max_rounds'))} > 0.2",
        "15m",
        "warning",
        "{{ $value | humanizePercentage }} of the runs of " + _AGENT_LABEL + " end at max rounds",
        "Read one of them: the model asks for a tool again and again, or the bound is too low.",
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


def _tools() -> Any:
    metric = names.TOOL_DURATION
    failed = series(metric, "_count", where=f'{label(names.ERROR_TYPE)}!=""')
    part = summed(failed, WINDOW, _TOOL)
    whole = summed(series(metric, "_count"), WINDOW, _TOOL)
    return _rule(
        "LoopspanToolFailing",
        f"{part} / ({whole} >= {FEW}) > 0.2",
        "5m",
        "warning",
        "{{ $value | humanizePercentage }} of the calls of " + _TOOL_LABEL + " fail",
        "Open Tools, Failures by kind; the log of the application has the exceptions.",
    )


def _unpriced() -> Any:
    by = (names.PROVIDER_NAME, names.REQUEST_MODEL)
    return _rule(
        "LoopspanPriceUnknown",
        f"{summed(series(names.COST_UNKNOWN), WINDOW, by)} > 0",
        "0m",
        "warning",
        "{{ $value }} replies of " + _MODEL_LABEL + " have no price",
        "Costs and cost budgets leave them out: give the model a price in the catalogue.",
    )


def _cost() -> Any:
    return _rule(
        "LoopspanCostPerHour",
        f"{summed(series(names.COST_USD), '1h')} > 10",
        "0m",
        "warning",
        'The last hour cost {{ $value | printf "%.2f" }} USD',
        "Set the bound to what is normal for you. Models and cost says which agent and model.",
    )


def _of_the_collector(name: str) -> str:
    """Return a counter of the Collector; whether it has a suffix depends on how it is set up."""
    return f'{{__name__=~"otelcol_{name}(_total)?"}}'


def _dropped() -> list[Any]:
    ours = " or ".join(
        f'label_replace({summed(series(metric), WINDOW)}, "part", "{part}", "", "")'
        for metric, part in ((names.RECORDER_DROPPED, "recorder"), (names.EXPORT_DROPPED, "export"))
    )
    collector = " + ".join(
        f"(sum({grown(name, WINDOW)}) or vector(0))"
        for name in (
            _of_the_collector("receiver_refused_spans"),
            _of_the_collector("exporter_enqueue_failed_spans"),
            _of_the_collector("exporter_send_failed_spans"),
        )
    )
    return [
        _rule(
            "LoopspanSpansDropped",
            f"({ours}) > 0",
            "0m",
            "warning",
            "The {{ $labels.part }} of an application dropped {{ $value }}",
            "Raise its bounds, or look whether its Collector answers.",
        ),
        _rule(
            "LoopspanCollectorDropsSpans",
            f"{collector} > 0",
            "5m",
            "critical",
            "The Collector refused or lost {{ $value }} spans",
            "A backend is away or too slow, or the memory limit is reached: see its log.",
        ),
    ]

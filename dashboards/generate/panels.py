"""Panels as Grafana's classic JSON, and the grid that they stand in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

JSON: TypeAlias = dict[str, Any]

PROMETHEUS: JSON = {"type": "prometheus", "uid": "${prometheus}"}
TEMPO: JSON = {"type": "tempo", "uid": "${tempo}"}
COLUMNS = 24
STEP_AT_LEAST = "2m"
"""No bar is shorter: the SDK sends its metrics once a minute."""


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL query and what its series are called; `{{label}}` is a label's value."""

    expr: str
    legend: str = "__auto"


def explore(query: str) -> str:
    """Return the address that shows the traces of a TraceQL query in Grafana's Explore.

    Variables of Grafana in it (`${__field.labels.…}`) are left for Grafana to fill.
    """
    pane = {
        "datasource": "${tempo}",
        "queries": [
            {
                "refId": "A",
                "datasource": TEMPO,
                "queryType": "traceql",
                "tableType": "spans",
                "limit": 50,
                "query": query,
            }
        ],
        "range": {"from": "${__from}", "to": "${__to}"},
    }
    pieces = re.split(r"(\$\{[^}]*\})", json.dumps({"t": pane}, separators=(",", ":")))
    encoded = "".join(p if p.startswith("${") else quote(p, safe="") for p in pieces)
    return f"/explore?schemaVersion=1&orgId=1&panes={encoded}"


def _targets(queries: Sequence[Query], *, instant: bool) -> list[JSON]:
    return [
        {
            "refId": chr(ord("A") + i),
            "datasource": PROMETHEUS,
            "editorMode": "code",
            "expr": query.expr,
            "legendFormat": query.legend,
            "instant": instant,
            "range": not instant,
            "exemplar": not instant,
        }
        for i, query in enumerate(queries)
    ]


def _panel(kind: str, title: str, text: str, traces: str | None, unit: str, **fields: Any) -> JSON:
    links = [{"title": "Traces", "url": explore(traces), "targetBlank": True}] if traces else []
    return {
        "type": kind,
        "title": title,
        "description": text,
        "datasource": PROMETHEUS,
        "fieldConfig": {
            "defaults": {"unit": unit, "links": links, **fields.pop("defaults", {})},
            "overrides": fields.pop("overrides", []),
        },
        **fields,
    }


def stat(
    title: str,
    query: str,
    text: str,
    *,
    unit: str = "short",
    traces: str | None = None,
    red_from: float | None = None,
) -> JSON:
    """One figure over the whole time that is shown."""
    steps: list[JSON] = [{"color": "text" if red_from is None else "green", "value": None}]
    if red_from is not None:
        steps.append({"color": "red", "value": red_from})
    return _panel(
        "stat",
        title,
        text,
        traces,
        unit,
        defaults={"thresholds": {"mode": "absolute", "steps": steps}, "noValue": "-"},
        targets=_targets([Query(query)], instant=True),
        options={
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value",
            "graphMode": "none",
        },
    )


def bars(title: str, queries: Sequence[Query], text: str, **given: Any) -> JSON:
    """How many in each step; the bars add up to the figure of the whole time."""
    return _over_time(
        title, queries, text, {"drawStyle": "bars", "fillOpacity": 80}, "normal", given
    )


def lines(title: str, queries: Sequence[Query], text: str, **given: Any) -> JSON:
    """A measure of each step: a ratio, a mean, a quantile."""
    style = {"drawStyle": "line", "spanNulls": True, "showPoints": "auto"}
    return _over_time(title, queries, text, style, "none", given)


def _over_time(
    title: str,
    queries: Sequence[Query],
    text: str,
    style: JSON,
    stacking: str,
    given: Mapping[str, Any],
) -> JSON:
    return _panel(
        "timeseries",
        title,
        text,
        given.get("traces"),
        given.get("unit", "short"),
        defaults={"min": 0, "custom": {**style, "stacking": {"mode": stacking, "group": "A"}}},
        interval=STEP_AT_LEAST,
        targets=_targets(queries, instant=False),
        options={
            "legend": {"displayMode": "table", "placement": "bottom", "calcs": []},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    )


def heatmap(title: str, query: str, text: str) -> JSON:
    """How many in each bucket of a histogram, step by step."""
    [target] = _targets([Query(query, "{{le}}")], instant=False)
    return _panel(
        "heatmap",
        title,
        text,
        None,
        "short",
        interval=STEP_AT_LEAST,
        targets=[{**target, "format": "heatmap"}],
        options={"calculate": False, "yAxis": {"unit": "s"}, "cellGap": 1},
    )


def by_label(title: str, queries: Sequence[Query], text: str, **given: Any) -> JSON:
    """One figure for each value of a label, as bars side by side."""
    return _panel(
        "bargauge",
        title,
        text,
        given.get("traces"),
        given.get("unit", "short"),
        defaults={"min": 0},
        targets=_targets(queries, instant=True),
        options={
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "orientation": "horizontal",
            "displayMode": "basic",
        },
    )


def traces_table(title: str, query: str, text: str, *, sort: str) -> JSON:
    """Spans that a TraceQL query finds, the greatest first; ids lead to their traces."""
    return {
        "type": "table",
        "title": title,
        "description": text,
        "datasource": TEMPO,
        "targets": [
            {
                "refId": "A",
                "datasource": TEMPO,
                "queryType": "traceql",
                "tableType": "spans",
                "limit": 50,
                "spss": 10,
                "query": query,
            }
        ],
        "transformations": [{"id": "sortBy", "options": {"sort": [{"field": sort, "desc": True}]}}],
        "fieldConfig": {"defaults": {}, "overrides": []},
        "options": {"showHeader": True, "cellHeight": "sm"},
    }


@dataclass(frozen=True, slots=True)
class Row:
    """Panels side by side under a title, all of one height."""

    title: str | None
    height: int
    panels: Sequence[JSON]


def grid(rows: Iterable[Row]) -> list[JSON]:
    """Return the panels with numbers and places."""
    placed: list[JSON] = []
    y = 0
    for row in rows:
        if row.title is not None:
            place = {"x": 0, "y": y, "w": COLUMNS, "h": 1}
            head = {"type": "row", "title": row.title, "collapsed": False, "panels": []}
            placed.append({"id": len(placed) + 1, "gridPos": place, **head})
            y += 1
        width = COLUMNS // len(row.panels)
        for i, panel in enumerate(row.panels):
            place = {"x": i * width, "y": y, "w": width, "h": row.height}
            placed.append({"id": len(placed) + 1, "gridPos": place, **panel})
        y += row.height
    return placed

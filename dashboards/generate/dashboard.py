"""What the dashboards have in common: variables, links, and names of traces to look for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dashboards.generate.panels import JSON, Row, grid
from dashboards.generate.promql import METRICS, label
from loopspan.telemetry import semconv as names

SERVICE = 'job=~"$service"'
AGENT = f'{SERVICE}, {label(names.AGENT_NAME)}=~"$agent"'
MODEL = f'{SERVICE}, {label(names.REQUEST_MODEL)}=~"$model"'
TOOL = f'{AGENT}, {label(names.TOOL_NAME)}=~"$tool"'
"""`job` is the service in every way from OTLP to Prometheus; an empty label is a value too."""


def spans(operation: str, *conditions: str, select: Iterable[str] = ()) -> str:
    """Return a TraceQL query for the spans of an operation."""
    wanted = [f'span.{names.OPERATION_NAME} = "{operation}"', *conditions]
    shown = ", ".join(f"span.{name}" for name in select)
    found = f"{{ {' && '.join(wanted)} }}"
    return f"{found} | select({shown})" if shown else found


def field(name: str) -> str:
    """Return a condition that a link fills with the label of the series that was clicked."""
    return f'span.{name} = "${{__field.labels.{label(name)}}}"'


def dashboard(
    uid: str, title: str, text: str, variables: Iterable[str], rows: Iterable[Row]
) -> JSON:
    """Return a dashboard; never change a `uid`: Grafana would not replace the one it has."""
    return {
        "uid": uid,
        "title": title,
        "description": text,
        "tags": ["loopspan"],
        "schemaVersion": 42,
        "editable": True,
        "timezone": "browser",
        "refresh": "30s",
        "graphTooltip": 1,
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [*_sources(), *map(_variable, variables)]},
        "annotations": {"list": []},
        "links": [
            {
                "type": "dashboards",
                "title": "loopspan",
                "icon": "external link",
                "tooltip": "",
                "targetBlank": False,
                "tags": ["loopspan"],
                "asDropdown": False,
                "keepTime": True,
                "includeVars": True,
            }
        ],
        "panels": grid(rows),
    }


def _sources() -> list[JSON]:
    return [
        {"type": "datasource", "name": kind, "label": kind.title(), "query": kind, "hide": 0}
        for kind in ("prometheus", "tempo")
    ]


_VARIABLES = {
    "service": (names.RUNS, "", "job"),
    "agent": (names.RUNS, SERVICE, label(names.AGENT_NAME)),
    "model": (names.INFERENCE_DURATION, SERVICE, label(names.REQUEST_MODEL)),
    "tool": (names.TOOL_DURATION, SERVICE, label(names.TOOL_NAME)),
}


def _variable(name: str) -> JSON:
    metric, where, of = _VARIABLES[name]
    suffix = "" if METRICS[metric].endswith("_total") else "_count"
    selector = f"{METRICS[metric]}{suffix}{{{where}}}" if where else METRICS[metric] + suffix
    query = f"label_values({selector}, {of})"
    everything: dict[str, Any] = {"text": "All", "value": "$__all"}
    return {
        "type": "query",
        "name": name,
        "label": name.title(),
        "datasource": {"type": "prometheus", "uid": "${prometheus}"},
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": everything,
    }

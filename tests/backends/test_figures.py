"""Every figure of the dashboards and every alert, asked on a real Prometheus.

A scripted agent runs; its metrics go over the Collector with our configuration; what each panel's
query gives must be exactly what the spans of the same runs sum up to.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from dashboards.generate.promql import METRICS
from loopspan.telemetry import semconv as names
from loopspan.testing import capture
from tests.backends import panel_figures
from tests.backends.ops_stack import Prometheus, Stack
from tests.backends.scripted_traffic import make_runs

pytestmark = pytest.mark.backends

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
DROPPED = {names.RECORDER_DROPPED: 3.0, names.EXPORT_DROPPED: 2.0}


@dataclass(frozen=True, slots=True)
class Asked:
    """Where the runs' metrics are, and their spans."""

    prometheus: Prometheus
    spans: Sequence[ReadableSpan]


@pytest.fixture(scope="module")
def asked(ops: Stack) -> Iterator[Asked]:
    """The runs, made and sent, in two exports: the second comes on top of the first."""
    exporter = OTLPMetricExporter(endpoint=f"{ops.http}/v1/metrics")
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=float("inf"))
    resource = Resource({"service.name": "scripted", "service.instance.id": "one"})
    metrics = MeterProvider([reader], resource, shutdown_on_exit=False)
    meter, reason = metrics.get_meter("drops"), {names.DROP_REASON: "queue_full"}
    with capture() as captured:
        spans = OTLPSpanExporter(endpoint=f"{ops.http}/v1/traces")
        captured.provider.add_span_processor(BatchSpanProcessor(spans))
        for name, count in DROPPED.items():
            meter.create_counter(name).add(count - 1, reason)
        make_runs(captured.provider, metrics)
        metrics.force_flush()
        ops.prometheus.wait_for(METRICS[names.RUNS])
        for name in DROPPED:
            meter.create_counter(name).add(1, reason)
        make_runs(captured.provider, metrics)
        metrics.force_flush()
        captured.provider.force_flush()
        ops.prometheus.wait_for(f"{METRICS[names.EXPORT_DROPPED]} == 2")
        yield Asked(ops.prometheus, list(captured.spans))
    metrics.shutdown()


def filled(expr: str) -> str:
    """A query as Grafana sends it, with all variables at All and one hour shown."""
    return re.sub(r"\$__(range|interval)\b", "1h", re.sub(r'"\$[a-z]+"', '".*"', expr))


def panels(name: str) -> dict[tuple[str, str], list[str]]:
    """The queries of each panel that asks Prometheus."""
    found = json.loads((DASHBOARDS / f"{name}.json").read_text("utf-8"))["panels"]
    return {
        (panel["type"], panel["title"]): [filled(target["expr"]) for target in panel["targets"]]
        for panel in found
        if panel["type"] not in ("row", "table")
    }


def expected(name: str, asked: Asked) -> panel_figures.Table:
    match name:
        case "runs":
            return panel_figures.runs(asked.spans, DROPPED)
        case "models-and-cost":
            return panel_figures.models(asked.spans)
        case _:
            return panel_figures.tools(asked.spans)


@pytest.mark.parametrize("name", ["runs", "models-and-cost", "tools"])
def test_each_panel_shows_what_the_spans_sum_up_to(asked: Asked, name: str) -> None:
    wanted, queries = expected(name, asked), panels(name)

    assert wanted.keys() == queries.keys()
    wrong: dict[Any, Any] = {}
    for panel, exprs in queries.items():
        shown = [asked.prometheus.values(expr) for expr in exprs]
        if [approx(figures) for figures in wanted[panel]] != shown or not all(shown):
            wrong[panel] = (shown, wanted[panel])
    assert wrong == {}


def approx(figures: Mapping[Any, float]) -> Any:
    return pytest.approx(dict(figures), rel=1e-9)


def test_figures_of_a_shorter_time_leave_out_what_was_before(asked: Asked) -> None:
    """In a window that begins after the last export nothing has happened; a ratio is not there."""
    runs = panels("runs")
    later = time.time() + 3601
    [count] = asked.prometheus.query(runs["stat", "Runs"][0], at=later)

    assert count["value"][1] == "0"
    assert asked.prometheus.query(runs["stat", "p95 duration"][0], at=later) == []


def test_each_alert_fires_on_these_figures(asked: Asked) -> None:
    rules = yaml.safe_load((DASHBOARDS / "alerts.yaml").read_text("utf-8"))["groups"][0]["rules"]
    found = {rule["alert"]: asked.prometheus.values(rule["expr"]) for rule in rules}
    shop, fail = {("gen_ai_agent_name", "shop")}, {("gen_ai_tool_name", "fail")}
    other = {("gen_ai_tool_name", "_OTHER")}
    unpriced = {("gen_ai_provider_name", "openai"), ("gen_ai_request_model", "scripted-2")}

    assert found == {
        "LoopspanRunsFailing": {frozenset(shop): 4 / 32},
        "LoopspanRunsCutAtMaxRounds": {frozenset(shop): 8 / 32},
        "LoopspanToolFailing": {frozenset(fail): 1.0, frozenset(other): 1.0},
        "LoopspanPriceUnknown": {frozenset(unpriced): 8.0},
        "LoopspanCostPerHour": {frozenset(): pytest.approx(2 * 0.75 * 29)},
        "LoopspanSpansDropped": {
            frozenset({("part", "recorder")}): 3.0,
            frozenset({("part", "export")}): 2.0,
        },
        "LoopspanCollectorDropsSpans": {},
    }


@pytest.mark.parametrize(
    ("metric", "suffix", "operation"),
    [
        (names.AGENT_DURATION, "_bucket", names.INVOKE_AGENT),
        (names.INFERENCE_DURATION, "_bucket", names.CHAT),
        (names.TOOL_DURATION, "_bucket", names.EXECUTE_TOOL),
        (names.COST_USD, "", names.CHAT),
    ],
)
def test_exemplars_lead_to_spans(asked: Asked, metric: str, suffix: str, operation: str) -> None:
    found = asked.prometheus.exemplars(METRICS[metric] + suffix)
    known = {
        (f"{s.context.trace_id:032x}", f"{s.context.span_id:016x}")
        for s in asked.spans
        if s.context and (s.attributes or {})[names.OPERATION_NAME] == operation
    }
    labels = [exemplar["labels"] for exemplar in found]
    assert labels
    assert {(each["trace_id"], each["span_id"]) for each in labels} <= known


def test_the_values_of_the_variables_are_there(asked: Asked) -> None:
    for name in ("runs", "models-and-cost", "tools"):
        dashboard = json.loads((DASHBOARDS / f"{name}.json").read_text("utf-8"))
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                selector, wanted = re.fullmatch(  # type: ignore[union-attr]
                    r"label_values\((.*), (\w+)\)", variable["query"]["query"]
                ).groups()
                found = asked.prometheus.query(f"count by ({wanted}) ({filled(selector)})")
                assert all(each["metric"][wanted] for each in found)
                assert found


def test_the_collectors_own_counters_have_these_names(ops: Stack) -> None:
    """What the alert asks for; the two of the exporters are there once something was lost."""
    assert re.search(r"^otelcol_receiver_refused_spans(_total)?\{", ops.telemetry, re.MULTILINE)

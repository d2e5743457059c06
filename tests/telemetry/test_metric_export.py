"""`configure()` in a program of its own: the metrics that it exports, and the switches."""

import os
import socket
import subprocess
import sys

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest as Exported,
)
from opentelemetry.sdk.resources import Resource

from loopspan import ConfigurationError
from loopspan.telemetry import semconv as names
from loopspan.telemetry.metric_export import exporting_meter_provider
from tests.servers import Answer, playing

PROGRAM = """
from loopspan import ToolLoop, configure

configure(service_name="program", {settings})
for _ in range(3):
    ToolLoop("demo:").run("Hello")
"""


def exported(settings: str = "", **variables: str) -> list[Exported]:
    """The metrics that a program with these settings and variables sends."""
    with playing([Answer(200, "application/x-protobuf", b"")] * 9) as server:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "LOOPSPAN_"))}
        endpoint = {
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{server.url}/v1/metrics",
            "OTEL_TRACES_EXPORTER": "none",
        }
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM.format(settings=settings)],
            env={**env, **endpoint, **variables},
            check=True,
            timeout=60,
        )
    return [Exported.FromString(body) for body in server.bodies]


def test_a_program_without_providers_exports_its_metrics_at_its_end() -> None:
    [sent] = exported()

    [resource] = sent.resource_metrics
    told = {a.key: a.value.string_value for a in resource.resource.attributes}
    assert told["service.name"] == "program"
    assert len(told["service.instance.id"]) == 36
    metrics = [metric for scope in resource.scope_metrics for metric in scope.metrics]
    [runs] = [metric.sum for metric in metrics if metric.name == names.RUNS]
    assert runs.is_monotonic
    assert [point.as_int for point in runs.data_points] == [3]


def test_a_named_instance_keeps_its_name() -> None:
    [sent] = exported(OTEL_RESOURCE_ATTRIBUTES="service.instance.id=web-1")

    told = {a.key: a.value.string_value for a in sent.resource_metrics[0].resource.attributes}
    assert told["service.instance.id"] == "web-1"


def test_metrics_are_switched_off_by_argument_and_by_variable() -> None:
    assert exported("metrics=False") == []
    assert exported(OTEL_METRICS_EXPORTER="none") == []


def test_an_exporter_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "carbon")
    with pytest.raises(ConfigurationError, match="OTEL_METRICS_EXPORTER is 'carbon'"):
        exporting_meter_provider(Resource({}))

    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json")
    with pytest.raises(ConfigurationError, match="protocol of metrics is 'http/json'"):
        exporting_meter_provider(Resource({}))


def test_a_receiver_that_never_answers_does_not_hold_up_the_end() -> None:
    """RC-03: the program ends, though a request may take an hour; else `timeout` is over first."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "LOOPSPAN_"))}
        port = silent.getsockname()[1]
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM.format(settings="")],
            env={
                **env,
                "OTEL_TRACES_EXPORTER": "none",
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"http://127.0.0.1:{port}/v1/metrics",
                "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": "3600",
            },
            check=True,
            timeout=60,
        )

"""`loopspan playground` as a process: its link, its live stream, its end."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from loopspan.telemetry import semconv as names
from tests.cli.command import COMMAND, PATIENCE, loopspan
from tests.servers import Answer, playing

CATALOGUE = str(Path(__file__).parents[2] / "examples" / "catalogue" / "loopspan.toml")
OWN = {"x-playground": "1", "sec-fetch-site": "same-origin"}


@dataclass
class Page:
    """A playground that serves, and what it printed."""

    process: subprocess.Popen[str]
    url: str
    code: str
    run_id: str | None
    token: str


@contextmanager
def page(*arguments: str) -> Iterator[Page]:
    command = [*COMMAND, "playground", "--port", "0", "--no-open", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline() + process.stderr.readline()
            link = re.search(r"open: (\S+)#login=([\w-]+)(?:&run=(\w+))?\n", said)
            token = re.search(r"Bearer ([\w-]+)'", said)
            assert link is not None, said
            assert token is not None, said
            yield Page(process, link[1], link[2], link[3], token[1])
        finally:
            process.kill()


def test_link_logs_in_once_and_opens_the_run_that_was_asked_for() -> None:
    with page("--catalogue", CATALOGUE, "--config", "shop", "--prompt", "Where is 1002?") as shown:
        with httpx.Client(base_url=shown.url, headers=OWN, timeout=PATIENCE) as http:
            assert http.get("").headers["content-type"].startswith("text/html")
            assert http.get("api/boot").status_code == 401
            assert http.post("login", json={"code": shown.code}).status_code == 204
            offered = [each["name"] for each in http.get("api/boot").json()["configurations"]]
            assert offered == ["plain", "shop"]
            run = http.get(f"api/runs/{shown.run_id}").json()["run"]
            assert (run["configuration"], run["title"]) == ("shop", "Where is 1002?")
        with httpx.Client(base_url=shown.url, headers=OWN, timeout=PATIENCE) as http:
            assert http.post("login", json={"code": shown.code}).status_code == 401


def test_steps_arrive_live_and_an_open_stream_does_not_hold_up_the_end() -> None:
    with page() as shown:
        headers = {**OWN, "authorization": f"Bearer {shown.token}"}
        with httpx.Client(base_url=shown.url, headers=headers, timeout=PATIENCE) as http:
            boot = http.get("api/boot").json()
            after = f"{boot['process']['epoch']}.{boot['seq']}"
            value = {"configuration": "demo", "prompt": "What time is it?"}
            answer = http.post("api/runs", json=value)
            run_id = answer.json()["runs"][0]["run_id"]
            query = {"topics": f"run:{run_id}", "after": after}
            with http.stream("GET", "api/stream", params=query) as stream:
                told = []
                for line in stream.iter_lines():
                    if line.startswith("event: "):
                        told.append(line.removeprefix("event: "))
                    if told[-1:] == ["end"]:
                        break
                assert told[0] == "run"
                assert "step" in told
                shown.process.send_signal(signal.SIGINT)
                assert shown.process.wait(PATIENCE) in (0, 130)


def test_head_of_a_stream_comes_before_any_news() -> None:
    with page() as shown:
        headers = {**OWN, "authorization": f"Bearer {shown.token}"}
        with (
            httpx.Client(base_url=shown.url, headers=headers, timeout=PATIENCE) as http,
            http.stream("GET", "api/stream") as stream,
        ):
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert next(stream.iter_lines()).startswith("retry: ")


def test_pg_09_wider_bind_without_allowed_host_does_not_start() -> None:
    ended = loopspan("playground", "--host", "0.0.0.0", "--no-open")
    assert ended.code == 2
    assert "--allowed-host" in ended.err


def test_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = loopspan("playground", "--port", port, "--no-open")
    assert ended.code == 2
    assert f"127.0.0.1:{port}" in ended.err


def test_catalogue_with_a_mistake_is_told_before_anything_is_served(tmp_path: Path) -> None:
    wrong = tmp_path / "loopspan.toml"
    wrong.write_text("[configurations.x]\nmodel = 7\n")
    ended = loopspan("playground", "--catalogue", str(wrong), "--no-open")
    assert ended.code == 2
    assert "configurations.x" in ended.err


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_page_answers_to_the_name_that_it_prints(host: str) -> None:
    with page("--host", host) as shown:
        assert httpx.get(shown.url, timeout=PATIENCE).status_code == 200
        port = shown.url.rstrip("/").rpartition(":")[2]
        headers = {"host": f"evil.example:{port}"}
        assert httpx.get(shown.url, headers=headers, timeout=PATIENCE).status_code == 421


def test_metrics_of_its_runs_go_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing([Answer(200, "application/x-protobuf", b"")] * 9) as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", f"{server.url}/v1/metrics")
        with page("--catalogue", CATALOGUE, "--config", "shop", "--prompt", "Hello") as shown:
            shown.process.send_signal(signal.SIGINT)
            shown.process.wait(PATIENCE)

    sent = ExportMetricsServiceRequest.FromString(server.bodies[-1])
    [resource] = sent.resource_metrics
    [runs] = [m for s in resource.scope_metrics for m in s.metrics if m.name == names.RUNS]
    [point] = runs.sum.data_points
    labels = {each.key: each.value.string_value for each in point.attributes}
    assert point.as_int == 1
    assert labels == {names.AGENT_NAME: "shop", names.OUTCOME: "completed"}

"""The stack of `docker-compose.yml` without containers: our files, on ports of 127.0.0.1.

Jaeger and the Collector are built with Go. A second Jaeger stands where Tempo would: it takes the
same OTLP and tells what it got. A Prometheus 3 on the path gets our file and takes OTLP; Debian's
takes none, and the Collector writes to it by remote write.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from tests.backends.jaeger_server import Jaeger
from tests.backends.processes import PATIENCE, POLL_SECONDS, free_ports, running, wait_until_ready

ROOT = Path(__file__).parents[2]
COLLECTOR = ROOT / "collector"

PROMETHEUS = """
global: {evaluation_interval: 1s}
storage: {exemplars: {max_exemplars: 1000}}
"""

REMOTE_WRITE = """
exporters:
  prometheus_remote_write:
    endpoint: ${env:REMOTE_WRITE}
    tls: {insecure: true}
service:
  pipelines:
    metrics: {exporters: [prometheus_remote_write]}
"""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus."""

    url: str
    takes_otlp: bool

    def query(self, expr: str, at: float | None = None) -> list[dict[str, Any]]:
        """The vector that an expression gives, now or at a Unix time in seconds."""
        given = {"query": expr} if at is None else {"query": expr, "time": str(at)}
        return self._data("query", given)["result"]  # type: ignore[no-any-return]

    def values(self, expr: str) -> dict[frozenset[tuple[str, str]], float]:
        """The values of an expression by their labels."""
        return {
            frozenset(each["metric"].items()): float(each["value"][1]) for each in self.query(expr)
        }

    def exemplars(self, selector: str) -> list[dict[str, Any]]:
        """The exemplars of the last minutes."""
        now = time.time()
        given = {"query": selector, "start": str(now - 600), "end": str(now + 60)}
        found = self._data("query_exemplars", given)
        return [exemplar for series in found for exemplar in series["exemplars"]]

    def wait_for(self, expr: str, timeout: float = PATIENCE) -> None:
        """Wait until an expression gives something."""
        deadline = time.monotonic() + timeout
        while not self.query(expr):
            if time.monotonic() > deadline:
                raise TimeoutError(f"Prometheus has nothing for {expr} after {timeout} s")
            time.sleep(POLL_SECONDS)

    def _data(self, path: str, given: Mapping[str, str]) -> Any:
        answer = httpx.post(
            f"{self.url}/api/v1/{path}", data=given, trust_env=False, timeout=PATIENCE
        )
        if answer.is_error:
            raise ValueError(f"{given}: {answer.text}")
        return answer.json()["data"]


@contextmanager
def running_prometheus(folder: Path) -> Iterator[Prometheus]:
    """Run the Prometheus on the path while the block runs."""
    [port] = free_ports(1)
    program = shutil.which("prometheus")
    if program is None:
        raise FileNotFoundError("there is no `prometheus`; apt-get install prometheus")
    help = subprocess.run([program, "--help"], capture_output=True, text=True)
    takes_otlp = "--web.enable-otlp-receiver" in help.stdout + help.stderr
    config = folder / "prometheus.yaml"
    if takes_otlp:
        shutil.copy(COLLECTOR / "prometheus.yaml", config)
        shutil.copy(ROOT / "dashboards" / "alerts.yaml", folder)
    else:
        config.write_text(PROMETHEUS)
    argv = [
        program,
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        f"--web.enable-{'otlp' if takes_otlp else 'remote-write'}-receiver",
        "--enable-feature=exemplar-storage",
    ]
    url = f"http://127.0.0.1:{port}"
    with running(argv, env={}, ready=f"{url}/-/ready", log=folder / "prometheus.log"):
        yield Prometheus(url, takes_otlp)


@contextmanager
def our_jaeger(program: Path, log: Path) -> Iterator[Jaeger]:
    """Run Jaeger with the file that the compose file gives it."""
    grpc, http, query, query_grpc, health, metrics = free_ports(6)
    env = {
        "OTLP_GRPC_LISTEN": f"127.0.0.1:{grpc}",
        "OTLP_HTTP_LISTEN": f"127.0.0.1:{http}",
        "QUERY_LISTEN": f"127.0.0.1:{query}",
        "QUERY_GRPC_LISTEN": f"127.0.0.1:{query_grpc}",
        "HEALTH_LISTEN": f"127.0.0.1:{health}",
        "METRICS_HOST": "127.0.0.1",
        "METRICS_PORT": str(metrics),
    }
    argv = [str(program), "--config", str(COLLECTOR / "jaeger.yaml")]
    with running(argv, env=env, ready=f"http://127.0.0.1:{health}/status", log=log):
        yield Jaeger(f"http://127.0.0.1:{http}", f"127.0.0.1:{grpc}", f"http://127.0.0.1:{query}")


@dataclass(frozen=True, slots=True)
class Stack:
    """Everything that runs, and how to run the Collector before it."""

    program: Path
    full: Jaeger
    stripped: Jaeger
    prometheus: Prometheus
    folder: Path
    env: Mapping[str, str]

    @property
    def grpc(self) -> str:
        """Where the Collector takes OTLP by gRPC."""
        return self.env["OTLP_GRPC_LISTEN"]

    @property
    def http(self) -> str:
        """The same by HTTP, without a path."""
        return f"http://{self.env['OTLP_HTTP_LISTEN']}"

    @property
    def telemetry(self) -> str:
        """What the Collector says of itself, as Prometheus scrapes it."""
        url = f"http://127.0.0.1:{self.env['METRICS_PORT']}/metrics"
        return httpx.get(url, trust_env=False, timeout=PATIENCE).text

    @property
    def argv(self) -> list[str]:
        """The command of the Collector: our file, and the detour to a Prometheus without OTLP."""
        command = [str(self.program), f"--config=file:{COLLECTOR / 'config.yaml'}"]
        if self.prometheus.takes_otlp:
            return command
        overlay = self.folder / "remote-write.yaml"
        overlay.write_text(REMOTE_WRITE)
        return [*command, f"--config=file:{overlay}"]

    def beside(self, name: str, **env: str) -> "Stack":
        """The same backends behind another Collector with ports, a queue and a log of its own."""
        folder = self.folder / name
        folder.mkdir()
        own = {"QUEUE_FOLDER": str(folder / "queue"), **own_ports(), **env}
        return replace(self, folder=folder, env={**self.env, **own})

    @contextmanager
    def killed_collector(self) -> Iterator[None]:
        """Run the Collector, and kill it at the end of the block without a word."""
        log = self.folder / "killed.log"
        with log.open("wb") as output:
            process = subprocess.Popen(self.argv, env=self.env, stdout=output, stderr=output)
        try:
            wait_until_ready(process, f"http://{self.env['HEALTH_LISTEN']}/", log, PATIENCE)
            yield
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def collector(self) -> Iterator[None]:
        """Run the Collector while the block runs; a second one goes on where the first ended."""
        ready = f"http://{self.env['HEALTH_LISTEN']}/"
        with running(self.argv, env=self.env, ready=ready, log=self.folder / "collector.log"):
            yield


def own_ports() -> dict[str, str]:
    """Where a Collector listens."""
    grpc, http, health, metrics = free_ports(4)
    return {
        "OTLP_GRPC_LISTEN": f"127.0.0.1:{grpc}",
        "OTLP_HTTP_LISTEN": f"127.0.0.1:{http}",
        "HEALTH_LISTEN": f"127.0.0.1:{health}",
        "METRICS_HOST": "127.0.0.1",
        "METRICS_PORT": str(metrics),
    }


@contextmanager
def running_backends(jaeger: Path, collector: Path, folder: Path) -> Iterator[Stack]:
    """Run the backends, and say how the Collector is run; it does not run yet."""
    with ExitStack() as stack:
        full = stack.enter_context(our_jaeger(jaeger, folder / "full.log"))
        stripped = stack.enter_context(our_jaeger(jaeger, folder / "stripped.log"))
        prometheus = stack.enter_context(running_prometheus(folder))
        env = {
            **own_ports(),
            "QUEUE_FOLDER": str(folder / "queue"),
            "JAEGER_ENDPOINT": full.otlp_grpc,
            "TEMPO_ENDPOINT": stripped.otlp_grpc,
            "PROMETHEUS_ENDPOINT": f"{prometheus.url}/api/v1/otlp",
            "REMOTE_WRITE": f"{prometheus.url}/api/v1/write",
        }
        yield Stack(collector, full, stripped, prometheus, folder, env)

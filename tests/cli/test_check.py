"""`loopspan check`: keys, content, exporter, and tiny requests where they are asked for."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from loopspan.cli import main
from loopspan.providers.connect import adapter
from tests.cli.command import objects, scripted

Out = pytest.CaptureFixture[str]
KEY = "sk-abcdefghijklmnop"

FACTS = """\
Setup
  prices     table of genai-prices VERSION
  content    off, by default
  tracing    on
"""


@contextmanager
def listening() -> Iterator[int]:
    """Give the port of a server that takes connections and does no more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with listening() as port:
        return port


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for Ollama where none is, whatever runs on this machine."""
    monkeypatch.setattr(type(adapter("ollama")), "base_url", f"http://127.0.0.1:{free_port()}")


@contextmanager
def ollama(*models: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Give the address of a server that has these models, and the requests that it got."""
    received: list[dict[str, Any]] = []
    answer = {"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": True}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({"models": models})

        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self._answer({**answer, "done_reason": "length"})

        def _answer(self, value: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def report(capsys: Out, *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", "--json", *options])
    [event] = objects(capsys.readouterr().out)
    assert event["event"] == "check"
    assert event["check"]["ok"] is (code == 0)
    found: dict[str, Any] = event["check"]
    found["providers"] = {each["name"]: each for each in found["providers"]}
    return code, found


def test_without_any_setup_all_is_well(capsys: Out) -> None:
    assert main(["check"]) == 0
    out, err = capsys.readouterr()
    assert "  openai            OPENAI_API_KEY is not set      https://api.openai.com/v1\n" in out
    assert "  ollama            needs no key, does not answer  http://127.0.0.1:" in out
    assert "  content    off, by default\n" in out
    assert "http://localhost:4318/v1/traces (http/protobuf), " in out
    assert out.endswith("\nEverything that is configured works\n")
    assert err == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_part_of_a_key_is_shown(
    capsys: Out, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    main(["check", *options])
    out, err = capsys.readouterr()
    assert not any(KEY[i : i + 4] in out + err for i in range(len(KEY) - 3))


def test_which_keys_are_set(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    monkeypatch.setenv("MISTRAL_API_KEY", "")
    code, found = report(capsys)
    assert code == 0
    assert found["providers"]["groq"] == {
        "name": "groq",
        "key_variable": "GROQ_API_KEY",
        "key_set": True,
        "base_url": "https://api.groq.com/openai/v1",
        "answers": None,
        "probe": None,
        "problem": None,
    }
    assert found["providers"]["mistral"]["key_set"] is False


@pytest.mark.parametrize(
    ("variable", "value", "said", "problem"),
    [
        ("LOOPSPAN_CONTENT", "full", "full, by LOOPSPAN_CONTENT", None),
        (
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
            "span_only",
            "full, by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
            None,
        ),
        ("LOOPSPAN_CONTENT", "all", "unknown", "LOOPSPAN_CONTENT: content 'all' is unknown"),
    ],
)
def test_content(
    capsys: Out,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    said: str,
    problem: str | None,
) -> None:
    monkeypatch.setenv(variable, value)
    code, found = report(capsys)
    assert found["content"]["value"] == said
    assert (found["content"]["problem"] or "").startswith(problem or "")
    assert code == (0 if problem is None else 1)


def test_an_exporter_that_can_be_reached(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as port:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://me:word@127.0.0.1:{port}/")
        code, found = report(capsys)
    where = f"http://127.0.0.1:{port}/v1/traces (http/protobuf), reachable"
    assert (code, found["exporter"]) == (0, {"value": where, "problem": None})


def test_an_exporter_over_grpc(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as port:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"127.0.0.1:{port}")
        code, found = report(capsys)
    where = f"127.0.0.1:{port} (grpc), reachable"
    assert (code, found["exporter"]) == (0, {"value": where, "problem": None})


def test_an_exporter_for_traces_alone(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{free_port()}/here"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url)
    code, found = report(capsys)
    assert code == 1
    assert found["exporter"] == {
        "value": f"{url} (http/protobuf)",
        "problem": "it cannot be reached: Connection refused",
    }


@pytest.mark.parametrize(
    ("variable", "value", "part", "problem"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://:x/", "exporter", "cannot be reached"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:99999999", "exporter", "cannot be reached: Port"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "exporter", "loopspan exports otlp over"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "exporter", "loopspan exports otlp over"),
        ("OTEL_SDK_DISABLED", "true", "tracing", "OTEL_SDK_DISABLED is true"),
    ],
)
def test_a_setup_that_cannot_work(
    capsys: Out,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    part: str,
    problem: str,
) -> None:
    monkeypatch.setenv(variable, value)
    code, found = report(capsys)
    assert code == 1
    assert problem in found[part]["problem"]
    assert main(["check"]) == 1
    out = capsys.readouterr().out
    assert problem in out
    assert out.endswith(f"Does not work: {part}\n")


def test_an_exporter_that_is_switched_off_is_no_problem(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    code, found = report(capsys)
    assert (code, found["exporter"]["value"]) == (0, "none, by OTEL_TRACES_EXPORTER")


@pytest.mark.parametrize("host", ["http://127.0.0.1:{port}", "127.0.0.1:not-a-port"])
def test_an_ollama_that_is_named_must_answer(
    capsys: Out, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host.format(port=free_port()))
    code, found = report(capsys)
    assert code == 1
    assert found["providers"]["ollama"]["problem"] is not None


def test_without_probe_nothing_is_asked(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    with ollama() as (url, received):
        monkeypatch.setenv("OLLAMA_HOST", url)
        code, found = report(capsys)
    assert (code, received) == (0, [])
    assert found["providers"]["ollama"]["answers"] is True
    assert found["providers"]["ollama"]["probe"] is None


def test_a_probe_asks_the_smallest_model_of_ollama(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [
        {"name": "large:70b", "size": 70},
        {"name": "small:1b", "size": 3, "details": {"family": "llama"}},
        {"name": "embedder", "size": 1, "details": {"family": "nomic-bert"}},
    ]
    with ollama(*models) as (url, received):
        monkeypatch.setenv("OLLAMA_HOST", url)
        code, found = report(capsys, "--probe")
    assert code == 0
    assert found["providers"]["ollama"]["probe"].endswith(" (ollama:small:1b)")
    [request] = received
    assert request["model"] == "small:1b"
    assert request["options"] == {"num_predict": 16}
    assert "tools" not in request


def test_an_ollama_without_models_says_how_to_get_one(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama() as (url, _):
        monkeypatch.setenv("OLLAMA_HOST", url)
        code, found = report(capsys, "--probe")
    assert code == 1
    assert "ollama pull" in found["providers"]["ollama"]["problem"]


def test_a_probe_asks_those_with_a_key_once(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    refusal = httpx.Response(500, json={"error": {"message": f"overloaded {KEY}"}})
    with scripted(refusal) as (model, to_it):
        monkeypatch.setattr(type(adapter("groq")), "base_url", to_it[-1])
        code, found = report(capsys, "--probe")
    assert code == 1
    assert len(model.requests) == 1
    said = found["providers"]["groq"]["problem"]
    assert said.startswith("groq answered 500")
    assert KEY not in said
    assert [n for n, p in found["providers"].items() if p["probe"]] == ["demo"]


def test_a_probe_of_a_named_model(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    with scripted("ok") as (model, to_it):
        monkeypatch.setattr(type(adapter("groq")), "base_url", to_it[-1])
        code, found = report(capsys, "--probe", "--model", "groq:mine")
    assert code == 0
    assert model.requests[0]["model"] == "mine"
    assert found["providers"]["groq"]["probe"].startswith("ok after ")


def test_a_named_model_without_a_key_is_a_problem(capsys: Out) -> None:
    code, found = report(capsys, "--model", "groq:mine")
    assert code == 1
    assert "set GROQ_API_KEY" in found["providers"]["groq"]["problem"]


@pytest.mark.parametrize("model", ["groq", "acme:one"])
def test_a_model_that_is_none_is_wrong_usage(capsys: Out, model: str) -> None:
    assert main(["check", "--probe", "--model", model]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")

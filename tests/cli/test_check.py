"""`loopspan check`: keys, content, exporter."""

import pytest

from loopspan.cli import main
from tests.cli.checking import KEY, Out, free_port, listening, ollama, report


def test_without_any_setup_all_is_well(capsys: Out) -> None:
    assert main(["check"]) == 0
    out, err = capsys.readouterr()
    assert "  openai            OPENAI_API_KEY is not set      https://api.openai.com/v1\n" in out
    assert "  ollama            needs no key, does not answer  http://127.0.0.1:" in out
    assert "  local             not installed                  the model is not installed" in out
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
        "missing": None,
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

"""`opentelemetry-instrument` shows the runs of a program that knows nothing of loopspan."""

import os
import subprocess
from pathlib import Path

import pytest

from loopspan.runs import ChatStep, RequestStep
from loopspan.runs.sources.documents import fetched
from tests.instrumentations.installed import ROOT, python_or_skip
from tests.instrumentations.stub import PLAIN
from tests.servers import Answer, playing

EXAMPLE = ROOT / "examples" / "plain_openai_sdk.py"


def run_example(**variables: str) -> "subprocess.CompletedProcess[str]":
    python = python_or_skip("official")
    with playing(PLAIN) as server:
        return subprocess.run(
            [str(python.with_name("opentelemetry-instrument")), str(python), str(EXAMPLE)],
            env={
                "PATH": os.environ["PATH"],
                "OPENAI_API_KEY": "made-up",
                "OPENAI_BASE_URL": server.url,
                "OTEL_TRACES_EXPORTER": "none",
                "OTEL_METRICS_EXPORTER": "none",
                "OTEL_LOGS_EXPORTER": "none",
                **variables,
            },
            capture_output=True,
            text=True,
            check=True,
        )


CAPTURE = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
QUESTION = "Do I need an umbrella in Oslo?"


def test_the_runs_of_a_plain_program_are_shown() -> None:
    done = run_example(LOOPSPAN_SHOW="1", **CAPTURE)

    assert done.stdout == "Rain.\n"
    for told in (QUESTION, "get_weather", "rain in Oslo", "Rain.", "gpt-4o"):
        assert told in done.stderr


def test_nothing_is_said_unasked() -> None:
    done = run_example()

    assert (done.stdout, done.stderr) == ("Rain.\n", "")


def test_content_is_shown_only_where_the_instrumentation_was_asked_for_it() -> None:
    done = run_example(LOOPSPAN_SHOW="1")

    assert "gpt-4o" in done.stderr
    assert QUESTION not in done.stderr
    assert "rain in Oslo" not in done.stderr


def test_the_runs_of_a_plain_program_are_written(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    run_example(LOOPSPAN_RUNS_FILE=str(file), **CAPTURE)

    # Without a span around them each call is a trace, and so a run.
    first, second = fetched(file.read_bytes()).runs
    assert (first.outcome, second.outcome) == ("completed", "completed")
    assert [step.kind for step in (*first.steps, *second.steps)] == ["request", "chat"] * 2
    request, chat = second.steps
    assert isinstance(request, RequestStep)
    assert request.messages is not None
    assert [m["role"] for m in request.messages] == ["user", "assistant", "tool"]
    assert isinstance(chat, ChatStep)
    assert (chat.content, chat.finish_reason) == ("Rain.", "stop")
    assert (chat.usage.input_tokens, chat.usage.output_tokens) == (21, 6)
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "variables",
    [
        {"LOOPSPAN_RUNS_FILE": "/nowhere/at/all"},
        {"OTEL_SDK_DISABLED": "true", "LOOPSPAN_SHOW": "1"},
        {"OTEL_PYTHON_CONFIGURATOR": "none", "LOOPSPAN_SHOW": "1"},
    ],
    ids=["file", "disabled", "no-provider"],
)
def test_a_program_is_never_hurt(variables: dict[str, str]) -> None:
    assert run_example(**variables).stdout == "Rain.\n"


@pytest.mark.parametrize("mode", ["", "full"])
def test_the_content_policy_holds_for_what_is_exported(mode: str) -> None:
    with playing([Answer(200, "application/x-protobuf", b"")] * 4) as collector:
        done = run_example(
            LOOPSPAN_SHOW="1",
            LOOPSPAN_EXPORT_CONTENT=mode,
            OTEL_TRACES_EXPORTER="loopspan",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",  # the distribution says grpc
            **CAPTURE,
        )

    exported = b"".join(collector.bodies)
    assert QUESTION in done.stderr
    assert b"gpt-4o" in exported
    assert (QUESTION.encode() in exported) is (mode == "full")

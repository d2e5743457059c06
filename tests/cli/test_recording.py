"""`--export`: which spans leave, with how much content, and what is said where they cannot."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from loopspan.cli import main
from loopspan.testing import message
from tests.cli.command import after, objects, scripted, started
from tests.servers import QuietHandler, on_loopback

ASKING = message(tool_calls=[("current_time", {"timezone": "UTC"})])


@contextmanager
def collecting(status: int = 200) -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """Give the address of an OTLP receiver that answers so, and what it received."""
    received: list[ExportTraceServiceRequest] = []

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

    with on_loopback(Handler) as url:
        yield url, received


@pytest.mark.parametrize(
    ("options", "environment", "leaves"),
    [
        ([], None, False),
        (["--capture-content"], None, True),
        ([], "full", True),
        (["--capture-content"], "off", True),
    ],
)
def test_content_leaves_only_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    environment: str | None,
    leaves: bool,
) -> None:
    if environment is not None:
        monkeypatch.setenv("LOOPSPAN_CONTENT", environment)
    with collecting() as (url, received), scripted(ASKING, "my answer") as (_, to_it):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        assert main(["run", "my question", *to_it, "--export", "--json", *options]) == 0
    out, err = capsys.readouterr()
    [request] = received
    [resource] = request.resource_spans
    spans = [span for scope in resource.scope_spans for span in scope.spans]
    assert sorted(span.name for span in spans) == [
        "chat gpt-4o-mini",
        "chat gpt-4o-mini",
        "execute_tool current_time",
        "invoke_agent",
    ]
    assert ("my question" in str(request), "my answer" in str(request)) == (leaves, leaves)
    assert {span.trace_id.hex() for span in spans} == {objects(out)[-1]["run"]["trace_id"]}
    assert objects(out)[0]["step"]["messages"][0]["parts"][0]["content"] == "my question"
    assert err == ""


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("OTEL_LOG_LEVEL", "info", "loopspan"),
        ("OTEL_SERVICE_NAME", "mine", "mine"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=ours", "ours"),
    ],
)
def test_the_program_has_a_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, name: str
) -> None:
    monkeypatch.setenv(variable, value)
    with collecting() as (url, received), scripted("yes") as (_, to_it):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        main(["run", "x", *to_it, "--export"])
    attributes = {
        a.key: a.value.string_value for a in received[0].resource_spans[0].resource.attributes
    }
    assert attributes["service.name"] == name


def test_a_run_that_was_interrupted_is_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as (url, received), scripted(after(30, "late")) as (_, to_it):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with started("run", "x", *to_it, "--export", "--json") as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(2)
            _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    assert len(received) == 1
    assert "cancelled" in str(received[0])


def test_a_receiver_that_refuses_is_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting(400) as (url, _), scripted("yes") as (_, to_it):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url.replace("//", "//me:word@"))
        assert main(["run", "x", *to_it, "--export"]) == 0
    err = capsys.readouterr().err
    assert err.startswith(f"warning: the spans were not exported to {url}/v1/traces: ")
    assert "400" in err
    assert "Check OTEL_EXPORTER_OTLP_ENDPOINT" in err
    assert "word" not in err


def test_a_receiver_that_is_not_there_is_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as (url, _):
        pass
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with scripted(message("", finish_reason="length")) as (_, to_it):
        assert main(["run", "x", *to_it, "--export"]) == 3
    err = capsys.readouterr().err
    assert f"not exported to {url}/v1/traces: it cannot be reached, Connection refused. " in err


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("OTEL_TRACES_EXPORTER", "none", "OTEL_TRACES_EXPORTER is none; unset it"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "OTEL_TRACES_EXPORTER is 'zipkin'"),
        ("OTEL_TRACES_EXPORTER", "console", "OTEL_TRACES_EXPORTER is console, which would write"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "carrier-pigeon", "is 'carrier-pigeon'"),
    ],
)
def test_an_exporter_that_cannot_be_is_wrong_configuration(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    sentence: str,
) -> None:
    monkeypatch.setenv(variable, value)
    with scripted() as (model, to_it):
        assert main(["run", "x", *to_it, "--export", "--json"]) == 2
    assert sentence in capsys.readouterr().err
    assert model.requests == []


def test_nothing_leaves_without_export(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as (url, received), scripted("yes") as (_, to_it):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        assert main(["run", "x", *to_it, "--capture-content"]) == 0
    assert received == []

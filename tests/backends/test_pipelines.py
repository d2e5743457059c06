"""Our Collector configuration on a real Collector: one copy with the content, one without."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Link, Span, StatusCode, Tracer, format_trace_id, use_span

from loopspan import ToolLoop, ToolOptions
from loopspan.runs import read_runs
from loopspan.runs.otlp import spans
from loopspan.telemetry import semconv as names
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.backends.jaeger_server import Jaeger
from tests.backends.ops_stack import COLLECTOR, Stack
from tests.backends.processes import PATIENCE

pytestmark = pytest.mark.backends

SECRET = "osprey"


def lookup(query: str) -> str:
    """Look something up."""
    return f"The nest of the {SECRET} is empty"


def over_http(stack: Stack) -> SpanExporter:
    return HttpExporter(endpoint=f"{stack.http}/v1/traces")


def over_grpc(stack: Stack) -> SpanExporter:
    return GrpcExporter(endpoint=stack.grpc, insecure=True)


def stored(jaeger: Jaeger, trace_id: str) -> str:
    """Everything that Jaeger has of a trace, resource, scopes and links included, as text."""
    url = f"{jaeger.query}/api/v3/traces/{trace_id}"
    return httpx.get(url, trust_env=False, timeout=PATIENCE).raise_for_status().text


@pytest.mark.parametrize("exporter", [over_http, over_grpc])
def test_jaegers_copy_has_the_content_and_the_stripped_one_has_none(
    ops: Stack, exporter: Callable[[Stack], SpanExporter]
) -> None:
    """PR-01 behind the Collector: the word is in every kind of content, raw bodies included."""
    answers = [calls("lookup", query=SECRET), message(f"The {SECRET} has left")]
    model = ScriptedModel(answers)
    with capture() as captured:
        captured.provider.add_span_processor(BatchSpanProcessor(exporter(ops)))
        loop = ToolLoop(
            model.model,
            [lookup],
            tracer_provider=captured.provider,
            content="full",
            client=model.client,
        )
        options = ToolOptions(capture_raw=True, user_id="u-1", metadata={"note": SECRET})
        result = loop.run(f"Where is the {SECRET}?", options=options)
        captured.provider.force_flush()
    trace_id = result.run.trace_id
    assert trace_id is not None

    found = ops.full.trace(trace_id, spans=4)
    left = ops.stripped.trace(trace_id, spans=4)
    [whole] = read_runs(spans({"resourceSpans": [{"scopeSpans": [{"spans": found}]}]}))
    [rest] = read_runs(spans({"resourceSpans": [{"scopeSpans": [{"spans": left}]}]}))

    assert whole == result.run
    assert stored(ops.full, trace_id).count(SECRET) > 10
    assert SECRET not in stored(ops.stripped, trace_id)
    assert "u-1" not in stored(ops.stripped, trace_id)
    assert (rest.usage, rest.outcome, rest.rounds) == (whole.usage, whole.outcome, whole.rounds)
    assert [step.kind for step in rest.steps] == [step.kind for step in whole.steps]


def in_an_attribute(tracer: Tracer) -> None:
    tracer.start_span("work", attributes={"my.notes": SECRET, "http.url": SECRET}).end()


def in_an_attribute_of_ours(tracer: Tracer) -> None:
    tracer.start_span("work", attributes={"loopspan.draft": SECRET, "gen_ai.new": [SECRET]}).end()


def in_metadata(tracer: Tracer) -> None:
    tracer.start_span("work", attributes={"loopspan.metadata.note": SECRET}).end()


def in_a_known_event(tracer: Tracer) -> None:
    with tracer.start_as_current_span("work") as span:
        span.record_exception(ValueError(SECRET))


def in_an_event_of_its_own(tracer: Tracer) -> None:
    with tracer.start_as_current_span("work") as span:
        span.add_event(SECRET, {names.OPERATION_NAME: SECRET})


def in_the_status(tracer: Tracer) -> None:
    with tracer.start_as_current_span("work") as span:
        span.set_status(StatusCode.ERROR, SECRET)


def in_the_scope(tracer: Tracer) -> None:
    tracer.start_span("work").end()


LEAKS = [
    in_an_attribute,
    in_an_attribute_of_ours,
    in_metadata,
    in_a_known_event,
    in_an_event_of_its_own,
    in_the_status,
    in_the_scope,
]


@contextmanager
def leaking(ops: Stack) -> Iterator[Tracer]:
    """A tracer whose resource and scope hold the word too."""
    resource = Resource({"service.name": "leaky", "process.command_line": SECRET})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(over_grpc(ops)))
    yield provider.get_tracer("leaky", attributes={"note": SECRET})
    provider.shutdown()


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_a_leaking_span_passes_without_what_leaks(
    ops: Stack, leak: Callable[[Tracer], None]
) -> None:
    with leaking(ops) as tracer:
        root = tracer.start_span("root")
        trace_id = format_trace_id(root.get_span_context().trace_id)
        root.end()
        with_root(tracer, root, leak)

    ops.full.trace(trace_id, spans=2)
    ops.stripped.trace(trace_id, spans=2)
    assert SECRET in stored(ops.full, trace_id)
    assert SECRET not in stored(ops.stripped, trace_id)


def test_a_span_with_links_does_not_pass_at_all(ops: Stack) -> None:
    """No processor reaches the attributes of a link."""
    with leaking(ops) as tracer:
        root = tracer.start_span("root")
        trace_id = format_trace_id(root.get_span_context().trace_id)
        root.end()
        link = Link(root.get_span_context(), {"note": SECRET})
        with_root(tracer, root, lambda t: t.start_span("work", links=[link]).end())

    ops.full.trace(trace_id, spans=2)
    [left] = ops.stripped.trace(trace_id, spans=1)
    assert left["name"] == "root"
    assert SECRET not in stored(ops.stripped, trace_id)


def with_root(tracer: Tracer, root: Span, act: Callable[[Tracer], None]) -> None:
    """Do something below a span that has ended."""
    with use_span(root, end_on_exit=False):
        act(tracer)


def test_large_content_is_capped_in_the_full_copy(ops: Stack) -> None:
    """Above 65,000 bytes Jaeger's Badger would not save the span at all."""
    with leaking(ops) as tracer:
        span = tracer.start_span("large", attributes={names.INPUT_MESSAGES: "ä" * 100_000})
        trace_id = format_trace_id(span.get_span_context().trace_id)
        span.end()

    [found] = ops.full.trace(trace_id, spans=1)
    [value] = [a["value"]["stringValue"] for a in found["attributes"]]
    assert 59_000 < len(value.encode()) <= 60_000


def test_a_batch_above_the_defaults_of_grpc_arrives(ops: Stack) -> None:
    """12 spans of 1 MB: the Collector takes them and sends them on in smaller batches."""
    with leaking(ops) as tracer:
        root = tracer.start_span("root")
        trace_id = format_trace_id(root.get_span_context().trace_id)
        root.end()

        def large(tracer: Tracer) -> None:
            for _ in range(12):
                tracer.start_span("large", attributes={"text": "x" * 1_000_000}).end()

        with_root(tracer, root, large)

    assert len(ops.full.trace(trace_id, spans=13)) == 13


def snippets() -> list[str]:
    """The pieces of configuration that the guide shows."""
    guide = (COLLECTOR.parent / "docs" / "ops.md").read_text("utf-8")
    return re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)


@pytest.mark.parametrize("index", range(2))
def test_what_the_guide_adds_is_a_valid_configuration(
    backends: Stack, tmp_path: Path, index: int
) -> None:
    assert len(snippets()) == 2
    (tmp_path / "more.yaml").write_text(snippets()[index])
    validate(backends, COLLECTOR / "config.yaml", tmp_path / "more.yaml")


def test_the_processors_fit_into_an_existing_collector(backends: Stack, tmp_path: Path) -> None:
    (tmp_path / "existing.yaml").write_text(EXISTING)
    validate(backends, tmp_path / "existing.yaml", COLLECTOR / "config-existing.yaml")


EXISTING = """
receivers: {otlp: {protocols: {grpc: {}}}}
exporters: {otlp_grpc: {endpoint: "tempo:4317"}}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors:
        - filter/known_events_only
        - redaction/known_attributes_only
        - transform/no_free_text
        - transform/cap
      exporters: [otlp_grpc]
"""


def validate(stack: Stack, *files: Path) -> None:
    """Let the Collector check a configuration of several files, without running it."""
    argv = [str(stack.program), "validate", *(f"--config=file:{file}" for file in files)]
    done = subprocess.run(argv, env={}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""What a run measures, compared with the sums over its spans."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from opentelemetry.metrics import MeterProvider as AnyMeterProvider
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from loopspan import Configuration, ProviderError, ToolLoop, ToolOptions, tool
from loopspan.loop.exchange import RetryPolicy
from loopspan.messages import Price
from loopspan.telemetry import semconv as names
from loopspan.telemetry.metrics import SECONDS, instruments
from loopspan.testing import ScriptedModel, calls, message
from tests.loop.ways import Way, each_streamed_way, each_way

SECRET = "osprey"


@tool
def look() -> str:
    """Look."""
    return SECRET


@tool
def fail() -> str:
    """Fail."""
    raise ValueError(SECRET)


@dataclass
class Measured:
    """Where the spans and the metrics of a test's runs go."""

    tracer_provider: TracerProvider
    meter_provider: MeterProvider
    spans: InMemorySpanExporter
    reader: InMemoryMetricReader

    def points(self) -> dict[str, list[Any]]:
        """The data points of each metric by its name."""
        data = self.reader.get_metrics_data()
        found = [] if data is None else data.resource_metrics
        metrics = [m for r in found for s in r.scope_metrics for m in s.metrics]
        return {metric.name: list(metric.data.data_points) for metric in metrics}

    def total(self, name: str, **labels: str) -> Any:
        """The sum of a counter, or of a histogram's values, over the points with these labels."""
        wanted = {key.replace("__", "."): value for key, value in labels.items()}
        return sum(
            point.value if hasattr(point, "value") else point.sum
            for point in self.points().get(name, [])
            if wanted.items() <= dict(point.attributes).items()
        )

    def count(self, name: str) -> int:
        """How many values a histogram holds."""
        return sum(point.count for point in self.points().get(name, []))

    def ended(self, operation: str) -> list[ReadableSpan]:
        """The ended spans of an operation."""
        spans = self.spans.get_finished_spans()
        return [s for s in spans if attributes(s)[names.OPERATION_NAME] == operation]


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


def seconds(span: ReadableSpan) -> float:
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


@contextmanager
def measuring(**settings: Any) -> Iterator[Measured]:
    reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
    tracer_provider = TracerProvider(shutdown_on_exit=False, **settings)
    tracer_provider.add_span_processor(SimpleSpanProcessor(spans))
    meter_provider = MeterProvider([reader], shutdown_on_exit=False)
    yield Measured(tracer_provider, meter_provider, spans, reader)
    meter_provider.shutdown()
    tracer_provider.shutdown()


USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 8},
    "cost": 0.25,
}


def loop_over(
    measured: Measured, model: ScriptedModel, meter: AnyMeterProvider | None = None, **given: Any
) -> ToolLoop:
    return ToolLoop(
        model.model,
        [look, fail],
        tracer_provider=measured.tracer_provider,
        meter_provider=meter or measured.meter_provider,
        client=model.client,
        async_client=model.async_client,
        **{"content": "full", "configuration": Configuration(name="watcher"), **given},
    )


def two_rounds() -> ScriptedModel:
    asked: list[tuple[Any, ...]] = [
        ("look", {}, "call_1"),
        ("fail", {}, "call_2"),
        (SECRET, {}, "call_3"),
    ]
    return ScriptedModel([message(tool_calls=asked, usage=USAGE), message(SECRET, usage=USAGE)])


@each_way
def test_each_figure_is_the_sum_over_the_spans(way: Way) -> None:
    with measuring() as measured:
        way(loop_over(measured, two_rounds()), SECRET)
        [run] = measured.ended(names.INVOKE_AGENT)
        chats, tools = measured.ended(names.CHAT), measured.ended(names.EXECUTE_TOOL)

        def summed(name: str) -> Any:
            return sum(attributes(chat)[name] for chat in chats)

        assert measured.total(names.RUNS, loopspan__outcome="completed") == 1
        assert measured.total(names.AGENT_DURATION) == seconds(run)
        assert measured.total(names.AGENT_INFERENCE_CALLS) == attributes(run)[names.ROUNDS] == 2
        assert measured.total(names.AGENT_TOOL_CALLS) == attributes(run)[names.TOOL_CALLS] == 3
        assert measured.total(names.INFERENCE_DURATION) == pytest.approx(sum(map(seconds, chats)))
        assert measured.count(names.TOOL_DURATION) == len(tools) == 3
        assert measured.total(names.TOOL_DURATION) == pytest.approx(sum(map(seconds, tools)))
        assert measured.total(names.COST_USD) == summed(names.COST_USD) == 0.5
        for metric, attribute in {
            names.INFERENCE_INPUT_TOKENS: names.USAGE_INPUT_TOKENS,
            names.INFERENCE_OUTPUT_TOKENS: names.USAGE_OUTPUT_TOKENS,
            names.INFERENCE_CACHE_READ: names.USAGE_CACHE_READ,
            names.INFERENCE_REASONING: names.USAGE_REASONING,
            names.OPERATION_INPUT_TOKENS: names.USAGE_INPUT_TOKENS,
            names.OPERATION_OUTPUT_TOKENS: names.USAGE_OUTPUT_TOKENS,
        }.items():
            assert measured.total(metric) == summed(attribute) > 0
        reasons = {
            dict(p.attributes)[names.FINISH_REASON]: p.value
            for p in measured.points()[names.CHAT_FINISH_REASONS]
        }
        assert reasons == {"tool_call": 1, "stop": 1}


def test_metrics_count_what_is_not_sampled() -> None:
    """RC-06: the application samples nothing, and every run is counted."""
    with measuring(sampler=ALWAYS_OFF) as measured:
        for _ in range(10):
            loop_over(measured, two_rounds()).run("Go on.")

        assert measured.spans.get_finished_spans() == ()
        assert measured.total(names.RUNS) == 10
        assert measured.total(names.COST_USD) == 5.0


def test_no_label_holds_content_or_a_user() -> None:
    """PR-01, for the metrics: every label's value is one of a few."""
    with measuring() as measured:
        options = ToolOptions(user_id="u-1", conversation_id="c-1", metadata={"team": "t-1"})
        loop_over(measured, two_rounds(), compat=True).run(SECRET, options=options)
        labels = [dict(p.attributes) for points in measured.points().values() for p in points]

    told = {str(value) for each in labels for value in each.values()}
    assert told == {
        *("chat", "openai", "scripted-1", "scripted.invalid", "watcher", "completed", "unknown"),
        *("stop", "tool_call", "provider", "look", "fail", "function", "_OTHER", "ValueError"),
        *("input", "output", "unknown_tool", "80"),
    }


def test_exemplars_lead_to_the_span() -> None:
    with measuring() as measured:
        loop_over(measured, two_rounds()).run("Go on.")
        points = measured.points()
        for metric, operation in {
            names.AGENT_DURATION: names.INVOKE_AGENT,
            names.INFERENCE_DURATION: names.CHAT,
            names.COST_USD: names.CHAT,
            names.TOOL_DURATION: names.EXECUTE_TOOL,
        }.items():
            spans = {s.context.span_id for s in measured.ended(operation) if s.context}
            told = {e.span_id for p in points[metric] for e in p.exemplars}
            assert told
            assert told <= spans


def test_buckets_are_those_of_the_conventions() -> None:
    with measuring() as measured:
        loop_over(measured, two_rounds(), compat=True).run("Go on.")
        bounds = {
            name: list(points[0].explicit_bounds)
            for name, points in measured.points().items()
            if hasattr(points[0], "explicit_bounds")
        }

    a = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
    t = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
    g = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
    n = [1, 2, 4, 8, 16, 32, 64, 128]
    assert bounds == {
        names.INFERENCE_DURATION: a,
        names.TOOL_DURATION: a,
        names.OPERATION_INPUT_TOKENS: t,
        names.OPERATION_OUTPUT_TOKENS: t,
        names.AGENT_DURATION: g,
        names.AGENT_INFERENCE_CALLS: n,
        names.AGENT_TOOL_CALLS: n,
        names.OLD_DURATION: a,
        names.OLD_TOKEN_USAGE: t,
    }


@each_streamed_way
def test_a_stream_measures_its_chunks(way: Way) -> None:
    with measuring() as measured:
        way(loop_over(measured, ScriptedModel(["One, two, three."]), compat=True))
        [chat] = measured.ended(names.CHAT)

        first = attributes(chat)[names.RESPONSE_TIME_TO_FIRST_CHUNK]
        assert measured.total(names.INFERENCE_TIME_TO_FIRST_CHUNK) == first
        assert measured.total(names.OLD_TIME_TO_FIRST_CHUNK) == first


@pytest.mark.parametrize("compat", [False, True])
def test_older_names_are_there_under_compat_only(compat: bool) -> None:
    """BE-04: the counters replace the token histogram; both are there for a time if asked for."""
    with measuring() as measured:
        loop_over(measured, two_rounds(), compat=compat).run("Go on.")
        old = {names.OLD_DURATION, names.OLD_TOKEN_USAGE}

        assert old & measured.points().keys() == (old if compat else set())
        if compat:
            name = names.OLD_TOKEN_USAGE
            assert measured.total(name, gen_ai__token__type="input") == 200
            assert measured.total(name, gen_ai__token__type="output") == 40


def test_unknown_is_no_zero() -> None:
    with measuring() as measured:
        model = ScriptedModel([message("Yes.", usage={})])
        loop_over(measured, model).run("Go on.")

        assert measured.total(names.COST_UNKNOWN, loopspan__cost__missing="no usage reported") == 1
        assert not {names.COST_USD, *measured_tokens()} & measured.points().keys()


def measured_tokens() -> set[str]:
    return {names.INFERENCE_INPUT_TOKENS, names.OPERATION_OUTPUT_TOKENS}


def test_a_price_of_ones_own_is_counted() -> None:
    with measuring() as measured:
        model = ScriptedModel(
            [message("Yes.", usage={"prompt_tokens": 10, "completion_tokens": 1})]
        )
        loop_over(measured, model, prices={model.model.spec: Price(1e6, 1e6)}).run("Go on.")

        assert measured.total(names.COST_USD, loopspan__cost__source="table") == 11.0


def test_a_failing_model_is_counted_with_its_retries() -> None:
    with measuring() as measured:
        model = ScriptedModel([httpx.ConnectError("away")] * 2)
        loop = loop_over(measured, model, retry=RetryPolicy(attempts=2, base_delay=0))
        with pytest.raises(ProviderError):
            loop.run("Go on.")
        [chat] = measured.points()[names.INFERENCE_DURATION]
        [run] = measured.points()[names.AGENT_DURATION]

        assert chat.attributes[names.ERROR_TYPE] == "ConnectionFailed"
        assert run.attributes[names.ERROR_TYPE] == "ConnectionFailed"
        assert measured.total(names.CHAT_RETRIES) == 1
        assert measured.total(names.RUNS, loopspan__outcome="error") == 1


def test_words_of_a_provider_become_no_labels() -> None:
    with measuring() as measured:
        model = ScriptedModel([message("Yes.", finish_reason=f"because {SECRET}")])
        loop_over(measured, model).run("Go on.")

        assert measured.total(names.CHAT_FINISH_REASONS, gen_ai__response__finish_reason="_OTHER")


def test_a_dry_run_is_counted_as_such_and_asks_nobody() -> None:
    with measuring() as measured:
        loop_over(measured, ScriptedModel([])).run("Go on.", dry_run=True)

        assert measured.points().keys() == {names.RUNS}
        assert measured.total(names.RUNS, loopspan__outcome="dry_run") == 1


def test_without_a_provider_nothing_is_measured() -> None:
    assert instruments(None, "1") is None
    assert instruments(NoOpMeterProvider(), "1") is None


def test_one_provider_has_one_set_of_instruments() -> None:
    with measuring() as measured:
        assert instruments(measured.meter_provider, "1") is instruments(
            measured.meter_provider, "1"
        )


def test_bounds_are_exact() -> None:
    assert SECONDS[-1] == 81.92


def test_each_run_stands_alone_when_tools_are_called() -> None:
    with measuring() as measured:
        model = ScriptedModel([calls("look"), "Done."] * 2)
        loop = loop_over(measured, model)
        loop.run("Go on.")
        loop.run("Go on.")

        [rounds] = measured.points()[names.AGENT_INFERENCE_CALLS]
        assert (rounds.count, rounds.sum) == (2, 4)
        assert list(rounds.bucket_counts) == [0, 2, 0, 0, 0, 0, 0, 0, 0]

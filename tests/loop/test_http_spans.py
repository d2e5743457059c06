"""Instrumentations of HTTP beside ours: a span of theirs below ours, or none."""

from collections.abc import Callable

import httpx
import pytest
from opentelemetry import context, trace
from opentelemetry.context import _SUPPRESS_HTTP_INSTRUMENTATION_KEY

from loopspan.testing import Captured, ScriptedModel, capture, span_tree
from tests.loop.ways import Way, each_way, loop_of


def instrumented(model: ScriptedModel, captured: Captured) -> None:
    """Do to the model's clients what an instrumentation does to all: a span and a header each."""
    tracer = captured.provider.get_tracer("http")

    def wrapped(handle: Callable[[httpx.Request], httpx.Response]) -> httpx.MockTransport:
        def traced(request: httpx.Request) -> httpx.Response:
            if context.get_value(_SUPPRESS_HTTP_INSTRUMENTATION_KEY):
                return handle(request)
            with tracer.start_as_current_span("POST", kind=trace.SpanKind.CLIENT):
                return handle(request)

        return httpx.MockTransport(traced)

    model.client = httpx.Client(transport=wrapped(model._answer))
    model.async_client = httpx.AsyncClient(transport=wrapped(model._answer))


@each_way
@pytest.mark.parametrize("http_spans", [True, False])
def test_pi_01_there_is_one_span_of_the_model_and_the_http_span_hangs_below_it(
    way: Way, http_spans: bool
) -> None:
    with capture() as captured:
        model = ScriptedModel(["Hello."])
        instrumented(model, captured)
        way(loop_of(model, [], captured, http_spans=http_spans))
    [run] = span_tree(captured.spans)
    [chat] = run["children"]
    assert [child["name"] for child in chat["children"]] == ["POST"] * http_spans
    told = [chat, run, *chat["children"]]
    counts = [each["attributes"].get("gen_ai.usage.input_tokens") for each in told]
    assert [count for count in counts if count is not None] == [10]  # once in the whole trace
    assert context.get_value(_SUPPRESS_HTTP_INSTRUMENTATION_KEY) is None

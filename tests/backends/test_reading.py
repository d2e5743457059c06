"""What people find who open a run in Jaeger itself, without any page of ours."""

import json
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from loopspan import Configuration, PolicyExporter, RunResult, ToolLoop, ToolOptions, tool
from loopspan.telemetry.content import Content
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.backends.jaeger_server import Jaeger

pytestmark = pytest.mark.backends

PROMPT = "Tell me about each of them. " * 300
"""More than 8 kB."""


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return f"about {word}"


def traced(
    jaeger: Jaeger, model: ScriptedModel, content: Content, prompt: str
) -> tuple[RunResult, list[dict[str, Any]]]:
    """Make a run whose spans leave with so much content; gives them as Jaeger has them."""
    with capture() as captured:
        otlp = OTLPSpanExporter(endpoint=f"{jaeger.otlp_http}/v1/traces")
        exporter = PolicyExporter(otlp, content=content)
        captured.provider.add_span_processor(BatchSpanProcessor(exporter))
        loop = ToolLoop(
            model.model,
            [look_up],
            configuration=Configuration(name="support", max_rounds=20),
            tracer_provider=captured.provider,
            content="full",
            client=model.client,
        )
        result = loop.run(prompt, options=ToolOptions(parallel=1))
        captured.provider.force_flush()
    assert result.run.trace_id is not None
    return result, jaeger.trace(result.run.trace_id, spans=len(captured.spans))


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a span as Jaeger's page lists them, a value each."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


@pytest.mark.parametrize(("content", "most"), [("off", 300_000), ("full", 500_000)])
def test_a_run_of_three_hundred_spans_stays_small_be_01(
    jaeger: Jaeger, content: Content, most: int
) -> None:
    """BE-01: without being asked no text leaves the process; with it, each text does so once."""
    words = [[("look_up", {"word": f"{n}-{i}"}) for i in range(14)] for n in range(19)]
    model = ScriptedModel([*(message(tool_calls=each) for each in words), "That is all."])
    result, found = traced(jaeger, model, content, PROMPT)

    assert len(found) == 1 + 20 + 19 * 14
    texts = [value for span in found for value in attributes(span).values()]
    longest = max(len(value) for value in texts if isinstance(value, str))
    said = json.dumps(found)
    assert said.count(PROMPT.strip()) == (content == "full")
    assert longest < (1_000 if content == "off" else 2 * len(PROMPT))
    assert len(said) < most
    assert result.outcome == "completed"


def test_names_and_short_attributes_tell_the_story_be_02(jaeger: Jaeger) -> None:
    """BE-02: what each span is, its tokens, cost and end, without opening a message."""
    priced = {"prompt_tokens": 9, "completion_tokens": 3, "cost": 0.25}
    model = ScriptedModel(
        [
            {**calls("look_up", word="span"), "usage": priced},
            {**calls("look_up", word="trace"), "usage": priced},
            message("They go together.", usage=priced),
        ]
    )
    _, found = traced(jaeger, model, "full", "What is a span, what is a trace?")
    found.sort(key=lambda span: int(span["startTimeUnixNano"]))
    chat = f"chat {model.name}"
    names = [
        "invoke_agent support",
        chat,
        "execute_tool look_up",
        chat,
        "execute_tool look_up",
        chat,
    ]
    assert [span["name"] for span in found] == names

    run, first, call, *_, last = map(attributes, found)
    assert (run["loopspan.outcome"], run["loopspan.rounds"]) == ("completed", "3")
    assert (run["loopspan.usage.input_tokens"], run["loopspan.cost.usd"]) == ("27", 0.75)
    for told in (first, last):
        assert told["gen_ai.usage.input_tokens"] == "9"
        assert told["gen_ai.usage.output_tokens"] == "3"
        assert told["loopspan.cost.usd"] == 0.25
    assert first["gen_ai.response.finish_reasons"]["values"] == [{"stringValue": "tool_call"}]
    assert last["gen_ai.response.finish_reasons"]["values"] == [{"stringValue": "stop"}]
    assert (call["loopspan.round"], call["gen_ai.tool.name"]) == ("1", "look_up")
    assert json.loads(call["gen_ai.tool.call.arguments"]) == {"word": "span"}
    assert json.loads(last["gen_ai.output.messages"])[0]["parts"] == [
        {"type": "text", "content": "They go together."}
    ]

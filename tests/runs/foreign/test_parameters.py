"""Settings that an instrumentation tells together, in one JSON object."""

import json
from dataclasses import replace

import pytest

from loopspan.runs import ChatStep, RequestStep, read_runs
from loopspan.telemetry.record import SpanRecord
from tests.runs.foreign.conventions import pydantic_ai
from tests.runs.foreign.platforms import langfuse, openinference


def first_request(spans: list[SpanRecord], **told: object) -> RequestStep:
    agent, first, *_ = spans
    kept = {k: v for k, v in first.attributes.items() if v is not None}
    [run] = read_runs([agent, replace(first, attributes={**kept, **told})])
    step = run.steps[0]
    assert isinstance(step, RequestStep)
    return step


def test_the_parameters_of_openinference() -> None:
    """`LLM_INVOCATION_PARAMETERS` of its semantic conventions: a JSON text of what was passed."""
    told = {
        "model": "gpt-4o",
        "temperature": 0.2,
        "max_completion_tokens": 50,
        "stop": "END",
        "n": 2,
        "reasoning_effort": "low",
        "stream": True,
        "logprobs": True,
        "seed": None,
        "tools": [{"type": "function", "function": {"name": "temperature"}}],
    }
    step = first_request(openinference(), **{"llm.invocation_parameters": json.dumps(told)})
    assert step.parameters == {
        "temperature": 0.2,
        "max_tokens": 50,
        "stop_sequences": ["END"],
        "choice.count": 2,
        "reasoning.level": "low",
        "stream": True,
        "logprobs": True,
    }


def test_the_parameters_of_langfuse() -> None:
    """`modelParameters` of LangfuseGenerationAttributes (js.reference.langfuse.com)."""
    name = "langfuse.observation.model.parameters"
    told = {"temperature": 0.5, "maxTokens": 9, "topP": 1, "user": "u"}
    step = first_request(langfuse(), **{name: json.dumps(told)})
    assert step.parameters == {"temperature": 0.5, "max_tokens": 9, "top_p": 1, "user": "u"}


def test_an_attribute_of_its_own_comes_before() -> None:
    told = {"gen_ai.request.temperature": 1.0, "llm.invocation_parameters": '{"temperature": 0.2}'}
    assert first_request(openinference(), **told).parameters == {"temperature": 1.0}


def test_the_model_may_be_told_there_only() -> None:
    agent, first, *_ = openinference()
    kept = {k: v for k, v in first.attributes.items() if k != "llm.model_name"}
    bare = replace(first, attributes=kept)
    assert first_request([agent, bare]).model is None
    assert (
        first_request([agent, bare], **{"llm.invocation_parameters": '{"model": "m"}'}).model == "m"
    )


@pytest.mark.parametrize("text", ['{"temperature": 0.', "[1]", '"x"', "", "{}"])
def test_what_is_no_object_tells_nothing(text: str) -> None:
    step = first_request(openinference(), **{"llm.invocation_parameters": text})
    assert step.parameters == {}


def test_the_tools_of_pydantic_ai() -> None:
    """`ModelRequestParameters` in pydantic_ai/models/__init__.py, with its `ToolDefinition`s."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = {"name": "temperature", "description": "Tell.", "parameters_json_schema": schema}
    told = {"function_tools": [{**tool, "strict": None}], "output_tools": [], "output_mode": "text"}
    step = first_request(pydantic_ai(), model_request_parameters=json.dumps(told))
    assert list(step.tools or ()) == [
        {"type": "function", "name": "temperature", "description": "Tell.", "parameters": schema}
    ]


@pytest.mark.parametrize(
    ("began", "ms"),
    [
        ('"1970-01-01T00:00:02.250000Z"', 250.0),
        ("1970-01-01T01:00:02.5+01:00", 500.0),
        ("1970-01-01T00:00:01Z", None),
        ("1970-01-01T00:00:02.25", None),
        ("soon", None),
        ("", None),
    ],
)
def test_the_first_chunk_of_langfuse(began: str, ms: float | None) -> None:
    """`completionStartTime` of LangfuseGenerationAttributes; the span starts at two seconds."""
    agent, first, *_ = langfuse()
    told = {**first.attributes, "langfuse.observation.completion_start_time": began}
    [run] = read_runs([agent, replace(first, attributes=told)])
    chat = run.steps[1]
    assert isinstance(chat, ChatStep)
    assert chat.time_to_first_chunk_ms == ms

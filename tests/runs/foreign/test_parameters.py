"""Settings that an instrumentation tells together, in one JSON object."""

import json
from dataclasses import replace

import pytest

from loopspan.runs import RequestStep, read_runs
from loopspan.telemetry.record import SpanRecord
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

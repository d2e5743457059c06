"""What other instrumentations really emit is read as the run that it was."""

import os
import subprocess
from pathlib import Path

import pytest

from loopspan.runs import ChatStep, RequestStep, Run, ToolStep
from loopspan.runs.sources.documents import fetched
from tests.instrumentations.installed import ROOT, python_or_skip
from tests.instrumentations.stub import PLAIN, STREAMED
from tests.servers import playing

KINDS = ["official", "openinference", "openllmetry", "pydantic-ai"]
WAYS = {"plain": PLAIN, "streamed": STREAMED}


def emitted(kind: str, way: str, content: bool) -> Run:
    python = python_or_skip("official" if kind == "official" else "others")
    hidden = "false" if content else "true"
    with playing(WAYS[way]) as server:
        done = subprocess.run(
            [
                str(python),
                str(Path(__file__).with_name("emit.py")),
                kind,
                server.url,
                way,
                "content" if content else "bare",
            ],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": (
                    "SPAN_ONLY" if content else "NO_CONTENT"
                ),
                "TRACELOOP_TRACE_CONTENT": "true" if content else "false",
                "OPENINFERENCE_HIDE_INPUTS": hidden,
                "OPENINFERENCE_HIDE_OUTPUTS": hidden,
            },
            capture_output=True,
            check=True,
        )
    [run] = fetched(done.stdout).runs
    return run


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_run_is_as_it_was(kind: str, way: str) -> None:
    run = emitted(kind, way, content=True)

    requests = [step for step in run.steps if isinstance(step, RequestStep)]
    first, second = (step for step in run.steps if isinstance(step, ChatStep))
    assert (run.outcome, run.rounds, run.content) == ("completed", 2, "Rain.")
    assert requests[0].provider == "openai"
    assert requests[0].parameters["temperature"] == 0.5
    assert requests[0].tools is not None
    assert [tool["name"] for tool in requests[0].tools] == ["get_weather"]
    asked, again = (r.messages for r in requests)
    assert asked is not None
    assert [(m["role"], m["parts"][0]["content"]) for m in asked] == [
        ("system", "Be brief."),
        ("user", "Weather in Oslo?"),
    ]
    assert again is not None
    call, result = again[2]["parts"][-1], again[3]["parts"][0]
    assert again[:2] == asked
    assert (call["type"], call["name"], call["arguments"]) == (
        "tool_call",
        "get_weather",
        {"city": "Oslo"},
    )
    assert (result["type"], result["id"], result["response"]) == (
        "tool_call_response",
        "call_1",
        "rain",
    )
    assert (first.finish_reason, second.finish_reason) == ("tool_call", "stop")
    assert first.tool_calls is not None
    assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [
        ("call_1", "get_weather", {"city": "Oslo"})
    ]
    assert (run.usage.input_tokens, run.usage.output_tokens) == (41, 11)
    assert run.usage.cache_read_input_tokens == 8


def test_an_agent_of_pydantic_ai_tells_its_tools() -> None:
    run = emitted("pydantic-ai", "plain", content=True)

    [tool] = (step for step in run.steps if isinstance(step, ToolStep))
    assert run.configuration == "weather"
    assert (tool.name, tool.round, tool.arguments, tool.result) == (
        "get_weather",
        1,
        {"city": "Oslo"},
        "rain",
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_content_it_is_unknown_and_counts_are_there(kind: str, way: str) -> None:
    run = emitted(kind, way, content=False)

    chats = [step for step in run.steps if isinstance(step, ChatStep)]
    assert run.content is None
    assert {m.why for m in chats[-1].missing if m.field == "content"} == {"not_captured"}
    assert [chat.finish_reason for chat in chats] == ["tool_call", "stop"]
    assert (run.usage.input_tokens, run.usage.output_tokens) == (41, 11)

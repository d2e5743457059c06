"""A dry run: everything but the call."""

import asyncio
import socket
from typing import Any

import pytest

from loopspan import (
    Blob,
    Configuration,
    Message,
    RunResult,
    Text,
    ToolLoop,
    ToolOptions,
    UnsupportedContent,
    connect,
    tool,
    user,
)
from loopspan.runs import AssembledStep
from loopspan.telemetry.content import Content
from loopspan.testing import ScriptedModel, capture
from tests.loop.ways import loop_of


@tool
def look(place: str) -> str:
    """Look somewhere."""
    raise AssertionError(place)


def plain(loop: ToolLoop, prompt: str | Message = "Go on.", **given: Any) -> RunResult:
    return loop.run(prompt, dry_run=True, **given)


def awaited(loop: ToolLoop, prompt: str | Message = "Go on.", **given: Any) -> RunResult:
    return asyncio.run(loop.arun(prompt, dry_run=True, **given))


each_way = pytest.mark.parametrize("way", [plain, awaited], ids=lambda way: way.__name__)


@each_way
def test_nobody_is_called(way: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        result = way(ToolLoop(connect("openai:gpt-x", base_url=url), [look]))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()

    assert (result.outcome, result.rounds, result.content) == ("dry_run", 0, None)


@each_way
def test_it_shows_what_would_be_sent(way: Any) -> None:
    model = ScriptedModel(["Hello."])
    with capture() as captured:
        configuration = Configuration(name="greeter", system_prompt="Be kind.")
        loop = loop_of(model, [look], captured, configuration=configuration, content="full")
        result = way(loop)
        assert model.requests == []
        loop.run("Go on.")

    [step] = result.run.steps
    assert isinstance(step, AssembledStep)
    assert step.body == model.requests[0]
    assert step.messages == tuple(m.to_json() for m in result.messages)
    assert [t["name"] for t in step.tools or ()] == ["look"]
    assert [(p["type"], p["bytes"]) for p in step.parts or ()] == [("system", 8), ("user", 6)]
    assert (result.run.outcome, result.run.rounds, result.run.cost_usd) == ("dry_run", 0, None)
    assert result.run == captured.run_trace.run(result.run_id)


@each_way
@pytest.mark.parametrize("content", ["off", "metadata"])
def test_it_shows_no_more_content_than_it_may(way: Any, content: Content) -> None:
    with capture() as captured:
        loop = loop_of(ScriptedModel([]), [look], captured, content=content)
        result = way(loop, "a secret")

    [step] = result.run.steps
    assert isinstance(step, AssembledStep)
    assert step.body is None
    assert "a secret" not in result.run.model_dump_json()
    assert result.run == captured.run_trace.run(result.run_id)


@each_way
def test_a_tool_that_is_not_offered_is_not_shown(way: Any) -> None:
    with capture() as captured:
        loop = loop_of(ScriptedModel([]), [look], captured, content="full")
        result = way(loop, options=ToolOptions(allow=()))

    [step] = result.run.steps
    assert isinstance(step, AssembledStep)
    assert step.tools == ()
    assert "tools" not in (step.body or {})


@each_way
def test_what_cannot_be_sent_is_an_error_with_a_run_that_shows_it(way: Any) -> None:
    video = user(Text("What is this?"), Blob("video", "AAAA", "video/mp4"))
    with capture() as captured:
        loop = loop_of(ScriptedModel([]), [look], captured)
        with pytest.raises(UnsupportedContent) as raised:
            way(loop, video)

    assert raised.value.result.outcome == "error"
    [run] = captured.run_trace.runs()
    assert run.error is not None
    assert (run.outcome, run.error.type) == ("error", "UnsupportedContent")

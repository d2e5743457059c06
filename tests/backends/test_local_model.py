"""The whole loop on a real model: runs that end, are cut, and are cancelled."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

from loopspan import (
    BadResponse,
    InvalidRequestError,
    Parameters,
    TextDelta,
    ToolOptions,
    tool,
)
from loopspan.cli import main
from loopspan.jsontext import load
from loopspan.testing import Captured, span_tree
from tests.backends.local_loop import (
    LONG,
    SHORT,
    TALE,
    kinds,
    local_loop,
    only_run,
    temperature,
)
from tests.loop.ways import Way, each_streamed_way, each_unstreamed_way, each_way

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("local_server")]


@each_way
def test_answer(captured: Captured, way: Way) -> None:
    result = way(
        local_loop(captured), "Say hello in one word.", options=ToolOptions(parameters=SHORT)
    )
    assert result.outcome == "completed"
    assert result.content
    run = only_run(captured)
    assert run == result.run
    assert kinds(run) == ["request", "chat"]
    assert [span.name for span in captured.spans] == [
        "chat smollm2-135m-instruct",
        "invoke_agent",
    ]


@each_unstreamed_way
def test_the_counts_are_those_of_the_server(captured: Captured, way: Way) -> None:
    options = ToolOptions(parameters=SHORT, tool_choice="temperature").with_capture_raw()
    way(local_loop(captured, temperature), "How warm is it in Oslo?", options=options)
    run = only_run(captured)
    told = [
        load(step.raw.response)["usage"]
        for step in run.steps
        if step.kind == "chat" and step.raw and step.raw.response
    ]
    assert len(told) == 2
    assert run.usage.input_tokens == sum(usage["prompt_tokens"] for usage in told) > 0
    assert run.usage.output_tokens == sum(usage["completion_tokens"] for usage in told) > 0


@each_streamed_way
def test_a_stream_without_counts_leaves_them_unknown(captured: Captured, way: Way) -> None:
    way(local_loop(captured), "Hello", options=ToolOptions(parameters=SHORT))
    run = only_run(captured)
    assert (run.usage.input_tokens, run.usage.output_tokens, run.cost_usd) == (None, None, None)
    assert {m.field: m.why for m in run.missing}["usage.input_tokens"] == "not_reported"


@each_way
def test_a_named_tool_its_result_and_the_answer(captured: Captured, way: Way) -> None:
    options = ToolOptions(parameters=SHORT, tool_choice="temperature")
    result = way(local_loop(captured, temperature), "How warm is it in Oslo?", options=options)
    run = only_run(captured)
    assert run == result.run
    assert kinds(run) == ["request", "chat", "tool", "request", "chat"]
    [used] = [step for step in run.steps if step.kind == "tool"]
    assert used.arguments.keys() == {"city"}
    assert load(used.result or "") == {"city": used.arguments["city"], "celsius": 21}
    assert (result.outcome, result.rounds) == ("completed", 2)
    [root] = span_tree(captured.spans)
    assert [child["name"] for child in root["children"]] == [
        "chat smollm2-135m-instruct",
        "execute_tool temperature",
        "chat smollm2-135m-instruct",
    ]


@each_way
def test_several_rounds_to_the_cap(captured: Captured, way: Way) -> None:
    options = ToolOptions(
        parameters=SHORT, tool_choice="temperature", forced_rounds=3, max_rounds=3
    )
    result = way(local_loop(captured, temperature), "How warm is it in Oslo?", options=options)
    assert (result.outcome, result.rounds, result.tool_calls) == ("max_rounds", 4, 3)
    assert only_run(captured) == result.run


@each_way
def test_cut_by_length(captured: Captured, way: Way) -> None:
    options = ToolOptions(parameters=Parameters(temperature=0.0, max_tokens=3))
    result = way(local_loop(captured), TALE, options=options)
    assert result.outcome == "length"
    [_, chat] = only_run(captured).steps
    assert chat.kind == "chat"
    assert (chat.finish_reason, chat.finish_reason_raw) == ("length", "length")
    assert chat.content == result.content


@each_unstreamed_way
def test_a_prompt_beyond_the_window(captured: Captured, way: Way) -> None:
    with pytest.raises(InvalidRequestError, match="context_length_exceeded") as caught:
        way(local_loop(captured), "word " * 3000, options=ToolOptions(parameters=SHORT))
    assert caught.value.status == 400
    assert only_run(captured).outcome == "error"


@each_streamed_way
def test_a_prompt_beyond_the_window_of_a_stream(captured: Captured, way: Way) -> None:
    # The server has sent its 200 by then, and the stream ends without an answer.
    with pytest.raises(BadResponse, match="the stream ended before its last event"):
        way(local_loop(captured), "word " * 3000, options=ToolOptions(parameters=SHORT))
    assert only_run(captured).outcome == "error"


def test_a_stream_that_is_left_in_its_middle(captured: Captured) -> None:
    loop = local_loop(captured)
    with loop.stream(TALE, options=ToolOptions(parameters=LONG)) as stream:
        for event in stream:
            if isinstance(event, TextDelta):
                break
    run = only_run(captured)
    assert run.outcome == "abandoned"
    assert run.content or run.steps[-1].kind == "chat"
    after = loop.run("Say hello in one word.", options=ToolOptions(parameters=SHORT))
    assert after.outcome == "completed"


async def until(begun: asyncio.Event, task: asyncio.Task[Any]) -> None:
    """Wait for the event; fail with the task where that ends before."""
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    if not begun.is_set():
        waiting.cancel()
        pytest.fail(f"the run ended before: {await task}")


def test_a_task_that_is_cancelled_in_the_middle_of_a_stream(captured: Captured) -> None:
    async def cancelled() -> None:
        begun = asyncio.Event()

        async def consume() -> None:
            loop = local_loop(captured)
            async with loop.astream(TALE, options=ToolOptions(parameters=LONG)) as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        begun.set()

        task = asyncio.create_task(consume())
        await until(begun, task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert only_run(captured).outcome == "cancelled"


def test_a_task_that_is_cancelled_in_the_middle_of_a_tool(captured: Captured) -> None:
    async def cancelled() -> None:
        begun = asyncio.Event()

        @tool
        async def wait(city: Literal["Oslo", "Rome"]) -> str:
            """Wait."""
            begun.set()
            await asyncio.Event().wait()
            return city

        options = ToolOptions(parameters=SHORT, tool_choice="wait")
        task = asyncio.create_task(local_loop(captured, wait).arun("Wait.", options=options))
        await until(begun, task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    run = only_run(captured)
    assert run.outcome == "cancelled"
    assert run.steps[-1].state == "cancelled"


def test_ten_runs_at_once(captured: Captured) -> None:
    options = ToolOptions(parameters=SHORT, tool_choice="temperature")

    def one(city: str) -> str:
        local_loop(captured, temperature).run(f"How warm is it in {city}?", options=options)
        return city

    async def several() -> None:
        loop = local_loop(captured, temperature)
        await asyncio.gather(
            *(loop.arun(f"How warm is it in {n}?", options=options) for n in range(5))
        )

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(one, ("Oslo", "Rome", "Lima", "Bern", "Kyiv")))
    asyncio.run(several())
    runs = captured.run_trace.runs()
    assert len(runs) == 10
    for run in runs:
        assert kinds(run) == ["request", "chat", "tool", "request", "chat"]
        assert run.usage.input_tokens


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--model", "local:", "--stream", "--temperature", "0", "--no-tools"]
    assert main(["run", "Say hello in one word.", *given]) == 0
    told = capsys.readouterr()
    assert "smollm2-135m-instruct" in told.out
    assert "Traceback" not in told.err

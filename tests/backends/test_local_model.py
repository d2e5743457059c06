"""The whole loop on a real model: what a server does while runs are cut, cancelled and killed."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

from loopspan import (
    BadResponse,
    ConnectionFailed,
    InvalidRequestError,
    Parameters,
    RetryPolicy,
    TextDelta,
    ToolLoop,
    ToolOptions,
    tool,
)
from loopspan.cli import main
from loopspan.cli.playground import PlaygroundSettings, catalogue_of
from loopspan.jsontext import load
from loopspan.local import start, stop
from loopspan.runs import Run
from loopspan.testing import Captured, capture, span_tree
from tests.backends.build import BuildError
from tests.backends.local_model import local_python
from tests.loop.ways import Way, each_streamed_way, each_unstreamed_way, each_way
from tests.requirements import require_or_skip

pytestmark = pytest.mark.model

SHORT = Parameters(temperature=0.0, max_tokens=24)
LONG = Parameters(temperature=0.0, max_tokens=1500)
TALE = "Tell me a very long story about a dog, a cat and a horse. Never stop."


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """The server of this module's tests."""
    try:
        python = local_python()
    except BuildError as error:
        require_or_skip("model", f"the local model cannot be installed: {error}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPSPAN_LOCAL_PYTHON", str(python))
        start()
        yield
        stop()


@pytest.fixture
def captured() -> Iterator[Captured]:
    with capture() as captured:
        yield captured
        assert_each_span_ended_once(captured)


def assert_each_span_ended_once(captured: Captured) -> None:
    ids = [span.context.span_id for span in captured.spans if span.context]
    assert len(ids) == len(set(ids))
    for run in captured.run_trace.runs():
        assert run.outcome not in ("running", "lost")
        assert "open" not in {step.state for step in run.steps}


@tool
def temperature(city: Literal["Oslo", "Rome"]) -> dict[str, Any]:
    """Get the temperature of a city."""
    return {"city": city, "celsius": 21}


def local_loop(captured: Captured, *tools: Any, **settings: Any) -> ToolLoop:
    return ToolLoop("local:", tools, tracer_provider=captured.provider, content="full", **settings)


def only_run(captured: Captured) -> Run:
    [run] = captured.run_trace.runs()
    return run


def kinds(run: Run) -> list[str]:
    return [step.kind for step in run.steps]


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


def kill_in_mid_answer(loop: ToolLoop) -> None:
    pid = start().process.pid
    with loop.stream(TALE, options=ToolOptions(parameters=LONG)) as stream:
        for event in stream:
            if isinstance(event, TextDelta) and pid:
                os.kill(pid, signal.SIGKILL)
                pid = 0


def test_a_server_that_is_killed_in_mid_answer_and_gone(captured: Captured) -> None:
    loop = local_loop(captured, retry=RetryPolicy(attempts=1))
    with pytest.raises(ConnectionFailed):
        kill_in_mid_answer(loop)
    run = only_run(captured)
    assert run.outcome == "error"
    assert run.steps[-1].state == "error"
    with pytest.raises(ConnectionFailed):
        loop.run("Hello", options=ToolOptions(parameters=SHORT))
    again = local_loop(captured).run("Hello", options=ToolOptions(parameters=SHORT))
    assert again.content


def gone(pid: int) -> bool:
    """Whether this process, which is no child of ours, ends."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 30)[0])
    finally:
        os.close(watched)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_that_is_killed_leaves_no_server(how: signal.Signals) -> None:
    source = "from loopspan.local import start; print(start().process.pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout
        pid = int(program.stdout.readline())
        program.send_signal(how)
        assert gone(pid)


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--model", "local:", "--stream", "--temperature", "0", "--no-tools"]
    assert main(["run", "Say hello in one word.", *given]) == 0
    told = capsys.readouterr()
    assert "smollm2-135m-instruct" in told.out
    assert "Traceback" not in told.err


def test_the_playground_offers_it_when_it_is_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    stop()
    offered = catalogue_of(PlaygroundSettings(local_model=True)).current().configurations
    assert offered["local"].model == "local:"
    assert "note: the local model is ready after " in capsys.readouterr().err
    assert "local" not in catalogue_of(PlaygroundSettings()).current().configurations


def test_threads_that_ask_first_start_one_server() -> None:
    stop()
    started: list[int] = []
    threads = [
        threading.Thread(target=lambda: started.append(start().process.pid)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == 4
    assert len(set(started)) == 1


def test_what_happens_is_told_while_it_starts() -> None:
    stop()
    told: list[str] = []
    start(told.append)
    assert told[0] == "starting the local model smollm2-135m-instruct …"
    assert told[1].startswith("the local model is ready after ")
    start(told.append)
    assert len(told) == 2

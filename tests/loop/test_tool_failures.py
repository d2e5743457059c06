"""Rule 4 of the loop: a tool call that goes wrong is told to the model, and the loop goes on."""

import asyncio
import logging
import threading
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from loopspan import Tool, ToolFinished, ToolOptions, tool
from loopspan.runs import Run, ToolStep
from loopspan.telemetry.content import Content
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of

SECRET = "postgres://root:hunter2@db"

GENERIC = "Error: The tool failed."
NO_SUCH = "Error: There is no such tool. Use only the tools that were offered."
REFUSED = "Error: This tool is not available. Use only the tools that were offered."
INVALID = "Error: The arguments are not valid for this tool. Check its schema and try again."
LATE = "Error: The tool did not finish in time."


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> str:
    """Fail."""
    raise ValueError(SECRET)


@tool
async def fail_later() -> str:
    """Fail in an event loop."""
    raise ValueError(SECRET)


@tool(enabled=False)
def off() -> str:
    """Never run."""
    raise AssertionError


@tool(timeout=0.01)
def hang() -> None:
    """Never return."""
    threading.Event().wait()


@tool(timeout=0.01)
async def hang_later() -> None:
    """Never return, in an event loop."""
    await asyncio.Event().wait()


@tool
async def stop_itself() -> str:
    """Be cancelled."""
    raise asyncio.CancelledError


def broken(value: object) -> object:
    raise KeyError(SECRET)


@tool
def check(value: Annotated[str, AfterValidator(broken)]) -> str:
    """Check a value by what fails."""
    return value


TOOLS: list[Tool] = [add, fail, fail_later, off, hang, hang_later, stop_itself, check]


def tool_steps(run: Run) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


@each_way
@pytest.mark.parametrize(
    ("name", "arguments", "told", "error_type"),
    [
        ("unknown", {}, NO_SUCH, "unknown_tool"),
        ("off", {}, REFUSED, "tool_refused"),
        ("add", {"a": 1, "b": SECRET}, INVALID, "invalid_arguments"),
        ("add", SECRET, INVALID, "invalid_arguments"),
        ("add", "[1,2]", INVALID, "invalid_arguments"),
        ("check", {"value": SECRET}, INVALID, "invalid_arguments"),
        ("fail", {}, GENERIC, "ValueError"),
        ("fail_later", {}, GENERIC, "ValueError"),
        ("stop_itself", {}, GENERIC, "cancelled"),
        ("hang", {}, LATE, "timeout"),
        ("hang_later", {}, LATE, "timeout"),
    ],
)
def test_the_model_is_told_no_more_than_that_it_failed(
    way: Way, name: str, arguments: Any, told: str, error_type: str
) -> None:
    model = ScriptedModel([message(tool_calls=[(name, arguments, "call_1")]), "Done."])
    with capture() as captured:
        result = way(loop_of(model, TOOLS, captured))

    assert model.requests[1]["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "call_1",
        "content": told,
    }
    assert (result.outcome, result.content) == ("completed", "Done.")
    [step] = tool_steps(result.run)
    assert step.error is not None
    assert step.error.type == error_type
    assert step.is_error
    [span] = [span for span in captured.spans if span.name.startswith("execute_tool")]
    assert span.status.status_code.name == "ERROR"
    assert SECRET not in f"{span.to_json()}{result.run.model_dump_json()}"


@each_way
@pytest.mark.parametrize("content", ["off", "metadata"])
def test_the_log_says_what_failed_and_where_without_the_exceptions_text(
    way: Way, content: Content, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel([calls("fail"), "Done."])
    with caplog.at_level(logging.DEBUG, "loopspan"):
        result = way(loop_of(model, TOOLS, content=content))

    [record] = [r for r in caplog.records if r.name.startswith("loopspan")]
    said = f"tool 'fail' failed in run {result.run_id}: ValueError in fail ({__file__}, line "
    assert record.getMessage().startswith(said)
    assert record.exc_info is None
    assert SECRET not in caplog.text


@each_way
def test_the_whole_exception_is_in_the_log_of_a_run_that_records_content(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel([calls("fail"), "Done."])
    with caplog.at_level(logging.INFO, "loopspan.tools"):
        result = way(loop_of(model, TOOLS, content="full"))

    [record] = caplog.records
    assert record.getMessage() == f"tool 'fail' failed in run {result.run_id}"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == SECRET


@each_way
def test_tc03_each_failure_has_a_kind_of_its_own(way: Way) -> None:
    @tool
    def find() -> dict[str, str]:
        """Find nobody."""
        return {"error": "no such user"}

    names = ("fail", "find", "unknown", "stop_itself")
    model = ScriptedModel([message(tool_calls=[(name, {}) for name in names]), "Done."])
    with capture() as captured:
        result = way(loop_of(model, [*TOOLS, find], captured))

    spans = {s.name.removeprefix("execute_tool "): s for s in captured.spans}
    assert {
        name: (
            spans[name].status.status_code.name,
            (spans[name].attributes or {}).get("error.type"),
            (spans[name].attributes or {}).get("loopspan.tool.outcome"),
        )
        for name in names
    } == {
        "fail": ("ERROR", "ValueError", "error"),
        "find": ("UNSET", None, "returned_error"),
        "unknown": ("ERROR", "unknown_tool", "error"),
        "stop_itself": ("ERROR", "cancelled", "cancelled"),
    }
    assert result.outcome == "completed"
    assert [step.is_error for step in tool_steps(result.run)] == [True] * 4


def test_a_failure_is_an_event_of_the_stream() -> None:
    model = ScriptedModel([message(tool_calls=[("fail", {}), ("add", {"a": 1, "b": 2})]), "Done."])
    with loop_of(model, TOOLS).stream("Go on.", options=ToolOptions(parallel=1)) as stream:
        finished = [event for event in stream if isinstance(event, ToolFinished)]

    assert [(e.call.name, e.result, e.is_error) for e in finished] == [
        ("fail", GENERIC, True),
        ("add", "3", False),
    ]


@each_way
def test_a_tool_that_was_given_up_does_not_answer_a_later_call(way: Way) -> None:
    release = threading.Event()

    @tool
    def slow() -> str:
        """Hang until a later call is made."""
        release.wait()
        return "too late"

    @tool(timeout=30)
    def patient() -> str:
        """Let the first call end."""
        release.set()
        return "in time"

    model = ScriptedModel([calls("slow"), *[calls("patient")] * 18, "Done."])
    way(loop_of(model, [slow, patient]), options=ToolOptions(tool_timeout=0.01, max_rounds=20))

    told = [m["content"] for m in model.requests[-1]["messages"] if m["role"] == "tool"]
    assert told == [LATE] + ["in time"] * 18


def test_a_task_that_was_given_up_does_not_answer_a_later_call() -> None:
    tasks: list[asyncio.Task[Any] | None] = []

    @tool
    async def slow() -> str:
        """Hang at first; later answer after the first call has ended."""
        tasks.append(asyncio.current_task())
        if len(tasks) == 1:
            await asyncio.Event().wait()
        elif tasks[0] is not None:
            await asyncio.wait([tasks[0]])
        return "in time"

    @tool(timeout=30)
    async def patient() -> str:
        """Do what `slow` does, with time enough."""
        return await slow()

    model = ScriptedModel([calls("slow"), calls("patient"), "Done."])
    loop = loop_of(model, [slow, patient])
    asyncio.run(loop.arun("Go on.", options=ToolOptions(tool_timeout=0.01)))

    told = [m["content"] for m in model.requests[2]["messages"] if m["role"] == "tool"]
    assert told == [LATE, "in time"]

"""Rule 5 of the loop: what a tool returned, as the model gets it and as it is recorded."""

from typing import Any

import pytest

from loopspan import ToolFinished, tool
from loopspan.runs import ToolStep
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of

LIMIT = 50_000


@each_way
def test_a_result_is_cut_at_a_character_and_says_so(way: Way) -> None:
    @tool
    def read() -> str:
        """Read too much."""
        return "€" * 20_000

    model = ScriptedModel([calls("read"), "Done."])
    with capture() as captured:
        result = way(loop_of(model, [read], captured, content="full"))

    told = model.requests[1]["messages"][-1]["content"]
    kept, marker = told.split("… ")
    assert len(told.encode()) <= LIMIT
    assert set(kept) == {"€"}
    assert marker == f"[cut: {len(kept.encode()):,} of 60,000 bytes kept]"
    [step] = [s for s in result.run.steps if isinstance(s, ToolStep)]
    assert step.result == told
    assert [cut.model_dump() for cut in step.cut] == [
        {"field": "result", "kept": len(told.encode()), "total": 60_000}
    ]


def test_a_result_within_the_limit_is_whole() -> None:
    @tool
    def read() -> str:
        """Read as much as there may be."""
        return "x" * LIMIT

    model = ScriptedModel([calls("read"), "Done."])
    with capture() as captured:
        result = loop_of(model, [read], captured).run("Go on.")

    assert model.requests[1]["messages"][-1]["content"] == "x" * LIMIT
    assert [s.cut for s in result.run.steps if isinstance(s, ToolStep)] == [()]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ({"a": 1}, '{"a":1}'),
        ([1, 2], "[1,2]"),
        (None, "null"),
        ("", ""),
        ({"result": "x"}, '{"result":"x"}'),
        ({"result": {"result": "x"}}, '{"result":{"result":"x"}}'),
        ({"result": "x", "more": 1}, '{"result":"x","more":1}'),
        ('{"result":"x"}', '{"result":"x"}'),
        ('{"result":"x"', '{"result":"x"'),
    ],
)
def test_the_step_shows_the_very_text_that_the_model_gets(value: Any, text: str) -> None:
    @tool
    def read() -> Any:
        """Read."""
        return value

    model = ScriptedModel([calls("read"), "Done."])
    with capture() as captured:
        loop = loop_of(model, [read], captured, content="full")
        with loop.stream("Go on.") as stream:
            finished = [event for event in stream if isinstance(event, ToolFinished)]
        run = stream.result.run

    assert model.requests[1]["messages"][-1]["content"] == text
    assert [event.result for event in finished] == [text]
    assert [s.result for s in run.steps if isinstance(s, ToolStep)] == [text]


@pytest.mark.parametrize(
    "arguments",
    [
        {"arguments": "x"},
        {"arguments": {"a": 1}},
        {"arguments": {"arguments": "x"}},
        {"arguments": {"arguments": {"arguments": {}}}},
        {"arguments": 1, "more": 2},
        "not JSON",
        [1, 2],
    ],
)
def test_the_step_shows_the_arguments_as_the_model_sent_them(arguments: Any) -> None:
    @tool
    def read(arguments: Any) -> None:
        """Read."""

    model = ScriptedModel([message(tool_calls=[("read", arguments)]), "Done."])
    with capture() as captured:
        result = loop_of(model, [read], captured, content="full").run("Go on.")

    assert [s.arguments for s in result.run.steps if isinstance(s, ToolStep)] == [arguments]


class Mute:
    """A value that has no text."""

    def __str__(self) -> str:
        raise RuntimeError


class Column:
    """A value that is neither true nor false, as a column of a data frame."""

    def __bool__(self) -> bool:
        raise RuntimeError


@each_way
@pytest.mark.parametrize("value", [Mute(), {"error": Column()}])
def test_a_result_that_cannot_be_read_is_a_failure_of_the_tool(way: Way, value: Any) -> None:
    @tool
    def read() -> Any:
        """Read something odd."""
        return value

    model = ScriptedModel([calls("read"), "Done."])
    with capture() as captured:
        result = way(loop_of(model, [read], captured))

    assert model.requests[1]["messages"][-1]["content"] == "Error: The tool failed."
    assert result.outcome == "completed"
    [step] = [s for s in result.run.steps if isinstance(s, ToolStep)]
    assert (step.state, step.is_error) == ("error", True)

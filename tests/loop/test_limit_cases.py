"""Cases LL-04, LL-05: the bounds of rounds and calls, and how a run says that it met one."""

import threading
from collections.abc import Iterable

import pytest

from loopspan import (
    ConfigurationError,
    StreamEvent,
    ToolFinished,
    ToolOptions,
    ToolStarted,
    tool,
)
from loopspan.runs import ToolStep
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of

NOT_MADE = "Error: This call was not made. Ask for fewer calls, or answer with what is known."


class Counting:
    """A tool that notes which calls were made, and how many ran at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.made: list[int] = []
        self.running = self.most = 0

    def count(self, n: int) -> int:
        """Count."""
        with self._lock:
            self.made.append(n)
            self.running += 1
            self.most = max(self.most, self.running)
        with self._lock:
            self.running -= 1
        return n


@each_way
def test_ll04_three_rounds_and_a_closing_one(way: Way) -> None:
    @tool
    def look() -> str:
        """Look."""
        return "nothing yet"

    model = ScriptedModel([calls("look")] * 3 + ["Nothing."])
    with capture() as captured:
        result = way(loop_of(model, [look], captured), options=ToolOptions(max_rounds=3))

    assert ["tools" in body for body in model.requests] == [True, True, True, False]
    assert (result.outcome, result.content) == ("max_rounds", "Nothing.")
    assert (result.run.outcome, result.run.truncated) == ("max_rounds", True)
    steps = [step for step in result.run.steps if isinstance(step, ToolStep)]
    assert [(step.round, step.state) for step in steps] == [(1, "ok"), (2, "ok"), (3, "ok")]


@each_way
def test_ll05_the_limit_of_calls_is_checked_before_any_starts(way: Way) -> None:
    counting = Counting()
    asking = message(tool_calls=[("count", {"n": n}) for n in range(40)])
    model = ScriptedModel([asking, calls("count", n=99), "Done."])
    options = ToolOptions(max_tool_calls=10, parallel=3)
    with capture() as captured:
        result = way(loop_of(model, [counting.count], captured), options=options)

    assert sorted(counting.made) == list(range(10))
    assert counting.most <= 3
    told = [m["content"] for m in model.requests[2]["messages"] if m["role"] == "tool"]
    assert told == [str(n) for n in range(10)] + [NOT_MADE] * 31
    steps = [step for step in result.run.steps if isinstance(step, ToolStep)]
    assert [s.error.type if s.error else "ok" for s in steps] == ["ok"] * 10 + ["not_run"] * 31
    outcomes = [(s.attributes or {}).get("loopspan.tool.outcome") for s in captured.spans]
    assert (outcomes.count("ok"), outcomes.count("not_run")) == (10, 31)
    assert (result.outcome, result.tool_calls) == ("completed", 41)


def at_once(events: Iterable[StreamEvent]) -> list[int]:
    """How many calls are under way after each event."""
    counts, count = [], 0
    for event in events:
        count += isinstance(event, ToolStarted) - isinstance(event, ToolFinished)
        counts.append(count)
    return counts


@pytest.mark.parametrize("parallel", [1, 3, 8])
def test_ll05_as_many_calls_as_allowed_are_under_way_together(parallel: int) -> None:
    arrived = threading.Barrier(parallel)

    @tool
    def meet(n: int) -> int:
        """Meet the others: it returns only when so many are under way."""
        arrived.wait(30)
        return n

    asking = message(tool_calls=[("meet", {"n": n}) for n in range(parallel * 2)])
    model = ScriptedModel([asking, "Done."])
    options = ToolOptions(parallel=parallel)
    with loop_of(model, [meet]).stream("Go on.", options=options) as stream:
        counts = at_once(stream)

    assert max(counts) == parallel
    told = [m["content"] for m in model.requests[1]["messages"] if m["role"] == "tool"]
    assert told == [str(n) for n in range(parallel * 2)]


@pytest.mark.parametrize(
    "options",
    [{"parallel": 0}, {"max_tool_calls": -1}, {"tool_timeout": 0.0}, {"forced_rounds": 0}],
)
def test_limits_that_cannot_work_are_refused(options: dict[str, float]) -> None:
    [name] = options
    with pytest.raises(ConfigurationError, match=name):
        ToolOptions(**options)  # type: ignore[arg-type]  # one option of its own type each


def test_a_limit_of_no_calls_lets_none_run() -> None:
    counting = Counting()
    model = ScriptedModel([calls("count", n=1), "Done."])
    loop_of(model, [counting.count]).run("Go on.", options=ToolOptions(max_tool_calls=0))

    assert counting.made == []

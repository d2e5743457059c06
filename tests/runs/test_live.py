"""What `RunTrace` tells while a run goes on."""

import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from loopspan import RunEvent, RunTrace, ToolOptions, tool
from loopspan.runs import RequestStep, RunStep, ToolStep
from loopspan.testing import Answer, ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of
from tests.runs.generated import Case, cases, made


class Told:
    """A listener that keeps what it is told."""

    def __init__(self, run_trace: RunTrace) -> None:
        self.events: list[RunEvent] = []
        self.stop = run_trace.subscribe(self.events.append)

    @property
    def steps(self) -> list[RunStep]:
        return [event.step for event in self.events if event.step is not None]

    @property
    def last(self) -> list[RunStep]:
        """The steps as they were told last, in the order in which they were told first."""
        return list({(step.span_id, step.kind): step for step in self.steps}.values())


def text_of(step: RunStep) -> list[str]:
    assert isinstance(step, RequestStep)
    return [message["parts"][0]["content"] for message in step.messages or ()]


@each_way
def test_the_request_is_told_before_the_provider_answers(way: Way) -> None:
    with capture() as captured:
        told = Told(captured.run_trace)
        before: list[list[RunStep]] = []

        def answer(body: Any) -> Answer:
            before.append(list(told.steps))
            [run] = captured.run_trace.runs()
            assert run.outcome == "running"
            return "Hello."

        way(loop_of(ScriptedModel([answer]), [], captured, content="full"), "Hi.")

    [[request]] = before
    assert text_of(request) == ["Hi."]


@each_way
def test_events_come_in_the_order_in_which_things_happen(way: Way) -> None:
    @tool
    def look(n: int) -> str:
        """Look."""
        return "nothing yet"

    asked = message(tool_calls=[("look", {"n": 1}, "call_1"), ("look", {"n": 2}, "call_2")])
    with capture() as captured:
        told = Told(captured.run_trace)
        loop = loop_of(ScriptedModel([asked, "Done."]), [look], captured)
        result = way(loop, options=ToolOptions(parallel=1))

    assert [(step.kind, step.round, step.state) for step in told.steps] == [
        ("request", 1, "ok"),
        ("chat", 1, "ok"),
        ("tool", 1, "open"),
        ("tool", 1, "ok"),
        ("tool", 1, "open"),
        ("tool", 1, "ok"),
        ("request", 2, "ok"),
        ("chat", 2, "ok"),
    ]
    assert {event.run_id for event in told.events} == {result.run_id}
    assert told.events[-1] == RunEvent(result.run_id, run=result.run)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_the_last_told_of_each_step_is_the_run(case: Case) -> None:
    with capture() as captured:
        told = Told(captured.run_trace)
        result = made(case, captured)

    assert tuple(told.last) == result.run.steps
    assert told.events[-1].run == result.run


def test_a_listener_that_comes_late_is_told_whole_requests() -> None:
    with capture() as captured:
        told: list[Told] = []

        @tool
        def look() -> str:
            """Look, and let somebody listen from now on."""
            told.append(Told(captured.run_trace))
            return "nothing yet"

        model = ScriptedModel([calls("look"), "Done."])
        result = loop_of(model, [look], captured, content="full").run("Hi.")

    assert [(step.kind, step.round) for step in told[0].steps] == [
        ("tool", 1),
        ("request", 2),
        ("chat", 2),
    ]
    assert tuple(told[0].steps) == result.run.steps[2:]


def test_a_listener_that_was_away_is_told_whole_requests() -> None:
    with capture() as captured:
        first, then = Told(captured.run_trace), []

        @tool
        def leave() -> str:
            """Let nobody listen any more."""
            first.stop()
            return "alone"

        @tool
        def come() -> str:
            """Let somebody listen again."""
            then.append(Told(captured.run_trace))
            return "here"

        model = ScriptedModel([calls("leave"), calls("come"), "Done."])
        result = loop_of(model, [leave, come], captured, content="full").run("Hi.")

    assert [step.kind for step in first.steps] == ["request", "chat", "tool"]
    assert tuple(then[0].steps) == result.run.steps[5:]


def test_a_broken_listener_harms_neither_the_run_nor_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(event: RunEvent) -> None:
        raise ValueError("no")

    with capture() as captured, caplog.at_level(logging.WARNING, "loopspan.runs"):
        captured.run_trace.subscribe(fail)
        told = Told(captured.run_trace)
        result = loop_of(ScriptedModel(["Hello."]), [], captured).run("Hi.")

    assert result.content == "Hello."
    assert tuple(told.last) == result.run.steps
    said = [r for r in caplog.records if r.name == "loopspan.runs"]
    assert [r.getMessage() for r in said] == ["a listener of RunTrace failed"] * 3


def test_nobody_is_told_after_the_shutdown() -> None:
    with capture() as captured:
        told = Told(captured.run_trace)
        captured.run_trace.shutdown()
        loop_of(ScriptedModel(["Hello."]), [], captured).run("Hi.")

        assert told.events == []
        assert len(captured.run_trace.runs()) == 1


def test_a_tool_is_told_when_it_starts() -> None:
    with capture() as captured:
        told = Told(captured.run_trace)
        seen: list[RunStep] = []

        @tool
        def look(place: str) -> str:
            """Look."""
            seen.append(told.steps[-1])
            return "nothing yet"

        model = ScriptedModel([calls("look", place="here"), "Done."])
        loop_of(model, [look], captured, content="full").run("Hi.")

    [step] = seen
    assert isinstance(step, ToolStep)
    assert (step.state, step.arguments, step.result) == ("open", {"place": "here"}, None)

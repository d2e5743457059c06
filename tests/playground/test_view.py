"""A run that is built step by step, whatever the order in which its steps are told."""

from loopspan import ToolLoop
from loopspan.playground.bodies import Hasher
from loopspan.playground.header import MEMORY
from loopspan.playground.view import RunView
from loopspan.runs import Run, RunEvent
from loopspan.testing import ScriptedModel, calls, capture
from tests.playground.served import TOOLS


def recorded() -> tuple[Run, list[RunEvent]]:
    """Return a run and the events that told it live."""
    events: list[RunEvent] = []
    with capture() as captured:
        captured.run_trace.subscribe(events.append)
        model = ScriptedModel([calls("add", a=1, b=2), "3"])
        loop = ToolLoop(
            model.model,
            TOOLS,
            tracer_provider=captured.provider,
            content="full",
            client=model.client,
        )
        run = captured.run_trace.run(loop.run("1 + 2?").run_id)
    assert run is not None
    return run, events


def test_steps_told_live_are_those_of_the_whole_run() -> None:
    run, events = recorded()
    hasher = Hasher()
    whole = RunView(run, MEMORY, hasher)
    live = RunView(run.model_copy(update={"steps": ()}), MEMORY, hasher)
    for event in events:
        if event.step is not None:
            live.put(event.step)
    assert live.steps == whole.steps


def test_older_state_of_a_step_changes_nothing() -> None:
    """The run is read when its first event is taken; the events behind it are older."""
    run, events = recorded()
    view = RunView(run, MEMORY, Hasher())
    before = list(view.steps)
    for event in events:
        if event.step is not None:
            view.put(event.step)
            assert view.steps == before

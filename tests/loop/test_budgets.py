"""Rule 6 of the loop: what a run may use up, checked before every call."""

import logging

import pytest

from loopspan import Budget, Configuration, ConfigurationError, ToolOptions, tool
from loopspan.testing import Answer, ScriptedModel, capture, message
from tests.loop.ways import Way, each_way, loop_of


@tool
def look() -> str:
    """Look."""
    return "nothing yet"


def asking(**usage: float) -> Answer:
    """An answer that says something, asks for a call, and reports this usage."""
    return message("Let me look.", tool_calls=[("look", {})], usage=usage)


@each_way
@pytest.mark.parametrize(
    ("budget", "outcome", "rounds"),
    [
        (Budget(tokens=30), "budget_tokens", 2),
        (Budget(tokens=31), "budget_tokens", 3),
        (Budget(usd=0.5), "budget_cost", 2),
        (Budget(usd=0.6), "budget_cost", 3),
        (Budget(tokens=30, usd=0.25), "budget_cost", 1),
        (Budget(tokens=46, usd=1.0, seconds=3600), "completed", 4),
    ],
)
def test_a_spent_budget_ends_the_run_with_what_it_has(
    way: Way, budget: Budget, outcome: str, rounds: int
) -> None:
    turn = asking(prompt_tokens=10, completion_tokens=5, cost=0.25)
    model = ScriptedModel([turn, turn, turn, "Done."])
    with capture() as captured:
        result = way(loop_of(model, [look], captured), options=ToolOptions(budget=budget))

    assert (result.outcome, len(model.requests), result.rounds) == (outcome, rounds, rounds)
    assert result.content == ("Done." if outcome == "completed" else "Let me look.")
    assert result.run.truncated is (outcome != "completed")
    assert result.run.outcome == outcome
    # Each call of the last reply has its result: the dialogue can be gone on with.
    assert result.messages[-1].role == ("assistant" if outcome == "completed" else "tool")


@each_way
@pytest.mark.parametrize(
    ("budget", "outcome"),
    [
        (Budget(seconds=0), "budget_time"),
        (Budget(tokens=0), "budget_tokens"),
        (Budget(usd=0), "budget_cost"),
    ],
)
def test_a_budget_of_nothing_sends_nothing(way: Way, budget: Budget, outcome: str) -> None:
    model = ScriptedModel([])
    with capture() as captured:
        result = way(loop_of(model, [look], captured), options=ToolOptions(budget=budget))

    assert model.requests == []
    assert (result.outcome, result.content, result.rounds) == (outcome, None, 0)
    assert result.cost_usd is None
    assert [span.name for span in captured.spans] == ["invoke_agent"]


def test_the_closing_answer_needs_a_budget_too() -> None:
    model = ScriptedModel([asking(prompt_tokens=10, completion_tokens=5)])
    options = ToolOptions(max_rounds=1, budget=Budget(tokens=15))
    result = loop_of(model, [look]).run("Go on.", options=options)

    assert (result.outcome, len(model.requests)) == ("budget_tokens", 1)


def test_the_options_budget_wins_over_the_configurations() -> None:
    model = ScriptedModel(["One.", "Two."])
    loop = loop_of(model, configuration=Configuration(budget=Budget(tokens=0)))

    assert loop.run("Go on.").outcome == "budget_tokens"
    assert loop.run("Go on.", options=ToolOptions(budget=Budget())).outcome == "completed"


def test_unknown_tokens_and_costs_count_nothing_and_are_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = ScriptedModel([asking(), asking(cost=0.5), asking(), asking(cost=0.5), "Done."])
    options = ToolOptions(budget=Budget(usd=1.0))
    with caplog.at_level(logging.WARNING, "loopspan.loop"):
        result = loop_of(model, [look]).run("Go on.", options=options)

    assert (result.outcome, result.rounds, result.cost_usd) == ("budget_cost", 4, None)
    said = [r.getMessage() for r in caplog.records if r.name == "loopspan.loop"]
    assert said == ["a round's cost is unknown; the cost budget counts what is known"]


def test_a_cost_that_is_looked_at_during_a_round_is_known_at_its_end() -> None:
    model = ScriptedModel([message("Hi.", usage={"prompt_tokens": 1, "cost": 0.5})])
    with capture() as captured, loop_of(model, [], captured).stream("Go on.") as stream:
        seen = [stream.result.cost_usd for _ in stream]
        result = stream.result

    assert (seen[0], seen[-1], result.cost_usd) == (None, 0.5, 0.5)
    assert [(span.attributes or {})["loopspan.cost.usd"] for span in captured.spans] == [0.5, 0.5]


@pytest.mark.parametrize("name", ["tokens", "usd", "seconds"])
def test_a_budget_below_zero_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"budget.{name} is -1"):
        Budget(**{name: -1})

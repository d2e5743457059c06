"""Rules 1 and 2 of the loop: what bounds it, and what it is without tools."""

import pytest

from loopspan import Configuration, ConfigurationError, ToolOptions, tool
from loopspan.testing import ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of


@tool
def look() -> str:
    """Look."""
    return "nothing yet"


def always(name: str) -> ScriptedModel:
    """A model that asks for a tool as long as it has any, then answers."""
    return ScriptedModel([lambda body: calls(name) if body.get("tools") else "I give up."] * 30)


@each_way
def test_five_rounds_by_default_then_a_closing_one_without_tools(way: Way) -> None:
    model = always("look")
    result = way(loop_of(model, [look]))

    assert ["tools" in body for body in model.requests] == [True] * 5 + [False]
    assert "tool_choice" not in model.requests[-1]
    assert (result.outcome, result.content) == ("max_rounds", "I give up.")
    assert (result.rounds, result.tool_calls) == (6, 5)


@each_way
def test_an_answer_in_the_last_round_is_not_cut_short(way: Way) -> None:
    model = ScriptedModel([calls("look"), "Done."])
    result = way(loop_of(model, [look]), options=ToolOptions(max_rounds=2))

    assert (result.outcome, result.content, len(model.requests)) == ("completed", "Done.", 2)


def test_the_options_bound_wins_over_the_configurations() -> None:
    model = always("look")
    loop = loop_of(model, [look], configuration=Configuration(max_rounds=4))

    assert loop.run("Go on.", options=ToolOptions(max_rounds=1)).rounds == 2
    assert loop.run("Go on.").rounds == 5


@pytest.mark.parametrize("bound", [0, -1, 21])
def test_a_bound_outside_the_hard_limits_is_refused(bound: int) -> None:
    with pytest.raises(ConfigurationError, match=str(bound)):
        Configuration(max_rounds=bound)
    with pytest.raises(ConfigurationError, match=str(bound)):
        ToolOptions(max_rounds=bound)


def test_the_ceiling_itself_is_allowed() -> None:
    result = loop_of(always("look"), [look]).run("Go on.", options=ToolOptions(max_rounds=20))

    assert (result.outcome, result.rounds) == ("max_rounds", 21)


@each_way
@pytest.mark.parametrize(
    ("tools", "allow"), [((), None), ((look,), ())], ids=["none-registered", "empty-allow-list"]
)
def test_without_tools_it_is_one_plain_completion(
    way: Way, tools: tuple[object, ...], allow: tuple[str, ...] | None
) -> None:
    model = ScriptedModel(["Hello."])
    given = [look] if tools else []
    result = way(loop_of(model, given), options=ToolOptions(allow=allow, tool_choice="required"))

    [body] = model.requests
    assert not {"tools", "tool_choice"} & body.keys()
    assert (result.outcome, result.content) == ("completed", "Hello.")


@each_way
@pytest.mark.parametrize("choice", ["required", "look"])
@pytest.mark.parametrize("forced", [1, 2])
def test_a_forced_choice_lets_go_so_that_the_model_can_answer(
    way: Way, choice: str, forced: int
) -> None:
    model = ScriptedModel([*[calls("look")] * forced, "A cat."])
    options = ToolOptions(tool_choice=choice, forced_rounds=forced)
    assert way(loop_of(model, [look]), options=options).content == "A cat."

    sent = [body.get("tool_choice") for body in model.requests]
    assert None not in sent[:forced]
    assert sent[forced:] == [None]


@each_way
def test_a_choice_that_forces_nothing_stays(way: Way) -> None:
    model = ScriptedModel([calls("look"), "A cat."])
    way(loop_of(model, [look]), options=ToolOptions(tool_choice="auto"))
    assert [body["tool_choice"] for body in model.requests] == ["auto", "auto"]


@each_way
def test_a_call_where_nothing_was_offered_is_not_made(way: Way) -> None:
    model = ScriptedModel([message("Hm.", tool_calls=[("look", {})])])
    with capture() as captured:
        result = way(loop_of(model, [look], captured), options=ToolOptions(allow=()))

    assert (result.rounds, result.tool_calls) == (1, 0)
    assert [span.name for span in captured.spans] == ["chat scripted-1", "invoke_agent"]

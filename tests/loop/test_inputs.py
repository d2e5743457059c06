"""Rule 7 of the loop: what the caller gave stays as it is."""

from copy import deepcopy
from typing import Any

from loopspan import (
    Configuration,
    Message,
    Parameters,
    RunAugmentation,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolOptions,
    assistant,
    tool,
    user,
)
from loopspan.testing import ScriptedModel, calls, capture
from tests.loop.ways import Way, each_way, loop_of


@tool
def wipe(record: dict[str, Any]) -> dict[str, Any]:
    """Empty a record and return it."""
    record.clear()
    return record


def dialogue() -> list[Message]:
    return [
        user(Text("Wipe it.", extra={"openai": {"mark": [1, 2]}})),
        assistant("Yes.", ToolCall("wipe", {"record": {"a": [1]}}, "call_0")),
        Message("tool", (ToolCallResponse("{}", "call_0", "wipe"),)),
        user("Once more."),
    ]


def configuration() -> Configuration:
    return Configuration(
        name="cleaner",
        system_prompt="Be thorough.",
        parameters=Parameters(temperature=0.5, extra={"response_format": {"type": "text"}}),
        tools=("wipe",),
    )


@each_way
def test_messages_configuration_and_options_are_never_changed(way: Way) -> None:
    given = dialogue()
    settings = configuration()
    options = ToolOptions(metadata={"team": "a"}, parameters=Parameters(extra={"user": "u"}))
    augmentation = RunAugmentation(system_prompt="Be quick.")
    before = deepcopy((given, settings, options, augmentation))
    model = ScriptedModel([calls("wipe", record={"b": [2]}), "Done."])

    with capture() as captured:
        loop = loop_of(model, [wipe], captured, configuration=settings, content="full")
        result = way(loop, given, options=options, augmentation=augmentation)

    assert (given, settings, options, augmentation) == before
    assert result.messages[1:5] == tuple(given)
    assert model.requests[0]["response_format"] == {"type": "text"}


@each_way
def test_a_tool_that_changes_its_arguments_does_not_change_the_dialogue(way: Way) -> None:
    model = ScriptedModel([calls("wipe", record={"b": [2]}, id="call_1"), "Done."])
    with capture() as captured:
        result = way(loop_of(model, [wipe], captured, content="full"))

    [call] = result.messages[1].tool_calls
    assert call.arguments == {"record": {"b": [2]}}
    sent = model.requests[1]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert sent == '{"record": {"b": [2]}}'
    [step] = [step for step in result.run.steps if step.kind == "tool"]
    assert step.arguments == {"record": {"b": [2]}}


def test_the_dialogue_can_be_gone_on_with() -> None:
    model = ScriptedModel([calls("wipe", record={}, id="call_1"), "Done.", "Again."])
    loop = loop_of(model, [wipe])
    first = loop.run("Wipe.")
    second = loop.run([*first.messages, user("And now?")])

    assert second.messages[: len(first.messages)] == first.messages
    assert [m["role"] for m in model.requests[2]["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]

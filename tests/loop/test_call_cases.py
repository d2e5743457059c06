"""Cases TC-01, TC-02, LL-01, LL-02: calls as models write them."""

from typing import Any

import pytest

from loopspan import Tool, tool
from loopspan.runs import ChatStep, RunStep, ToolStep
from loopspan.testing import JSON, Answer, ScriptedModel, capture, message
from tests.loop.ways import Way, each_streamed_way, each_way, loop_of
from tests.loop.wire import call_delta, delta, pieces, stream_of

INVALID = "Error: The arguments are not valid for this tool. Check its schema and try again."
NOT_MADE = "Error: This call was not made. Ask for fewer calls, or answer with what is known."


class Weather:
    """Tools that note what they were asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.tools: list[Tool] = [tool(self.weather), tool(self.now)]

    def weather(self, city: str) -> str:
        """Tell the weather of a city."""
        self.asked.append(city)
        return "sunny"

    def now(self) -> str:
        """Tell the time."""
        self.asked.append(None)
        return "noon"


def of_kind(steps: tuple[RunStep, ...], kind: type[Any]) -> list[Any]:
    return [step for step in steps if isinstance(step, kind)]


@each_streamed_way
def test_tc01_deltas_of_two_calls_that_alternate_are_two_calls(way: Way) -> None:
    texts = ('{"city": "Oslo, Norway"}', '{"city": "Lima, Peru"}')
    chunks = [
        call_delta(index, id=f"call_{index}", type="function", name="weather", arguments="")
        for index in (0, 1)
    ]
    for pair in zip(*(pieces(text, 4) for text in texts), strict=True):
        chunks += [call_delta(index, arguments=piece) for index, piece in enumerate(pair)]
    weather = Weather()
    model = ScriptedModel([stream_of(*chunks, delta("tool_calls")), "Sunny."])
    with capture() as captured:
        result = way(loop_of(model, weather.tools, captured, content="full"))

    assert sorted(weather.asked) == ["Lima, Peru", "Oslo, Norway"]
    [chat, _] = of_kind(result.run.steps, ChatStep)
    assert [call.model_dump() for call in chat.tool_calls] == [
        {"id": "call_0", "name": "weather", "arguments": {"city": "Oslo, Norway"}},
        {"id": "call_1", "name": "weather", "arguments": {"city": "Lima, Peru"}},
    ]
    assert [(s.tool_call_id, s.arguments) for s in of_kind(result.run.steps, ToolStep)] == [
        ("call_0", {"city": "Oslo, Norway"}),
        ("call_1", {"city": "Lima, Peru"}),
    ]


def without_arguments(**function: Any) -> Answer:
    answer: JSON = message(tool_calls=[("now", "", "call_1")])
    answer["message"]["tool_calls"][0]["function"] = {"name": "now", **function}
    return answer


@each_way
@pytest.mark.parametrize("given", [{"arguments": ""}, {"arguments": None}, {}])
def test_tc02_a_call_without_arguments_has_an_empty_object(way: Way, given: Any) -> None:
    weather = Weather()
    model = ScriptedModel([without_arguments(**given), "Noon."])
    with capture() as captured:
        result = way(loop_of(model, weather.tools, captured, content="full"))

    assert weather.asked == [None]
    [step] = of_kind(result.run.steps, ToolStep)
    assert (step.arguments, step.result, step.state) == ({}, "noon", "ok")
    [span] = [span for span in captured.spans if span.name == "execute_tool now"]
    assert (span.attributes or {})["gen_ai.tool.call.arguments"] == "{}"


@each_way
@pytest.mark.parametrize(
    ("arguments", "finish"), [('{"city": "Osl', "length"), ("{'city': 'Oslo'}", "tool_calls")]
)
def test_ll01_arguments_that_are_no_json_are_never_guessed(
    way: Way, arguments: str, finish: str
) -> None:
    weather = Weather()
    asking = message(tool_calls=[("weather", arguments, "call_1")], finish_reason=finish)
    model = ScriptedModel([asking, "Sorry."])
    with capture() as captured:
        result = way(loop_of(model, weather.tools, captured, content="full"))

    assert weather.asked == []
    assert model.requests[1]["messages"][-1]["content"] == INVALID
    assert (result.outcome, result.content) == ("completed", "Sorry.")
    [step] = of_kind(result.run.steps, ToolStep)
    assert (step.state, step.error.type, step.arguments) == (
        "error",
        "invalid_arguments",
        arguments,
    )
    assert of_kind(result.run.steps, ChatStep)[0].finish_reason_raw == finish


@each_way
def test_ll01_the_last_call_of_a_reply_cut_by_length_is_not_made(way: Way) -> None:
    weather = Weather()
    asked = [("weather", {"city": "Oslo"}), ("weather", {"city": "Lim"})]
    model = ScriptedModel([message(tool_calls=asked, finish_reason="length"), "Sunny."])
    with capture() as captured:
        result = way(loop_of(model, weather.tools, captured))

    assert weather.asked == ["Oslo"]
    assert [m["content"] for m in model.requests[1]["messages"][2:]] == ["sunny", NOT_MADE]
    assert of_kind(result.run.steps, ChatStep)[0].finish_reason == "length"
    errors = [step.error and step.error.type for step in of_kind(result.run.steps, ToolStep)]
    assert errors == [None, "not_run"]


@each_way
@pytest.mark.parametrize("finish", ["stop", "end_turn", "made-up"])
def test_ll02_a_call_decides_and_not_the_finish_word(way: Way, finish: str) -> None:
    weather = Weather()
    asking = message(tool_calls=[("weather", {"city": "Oslo"})], finish_reason=finish)
    model = ScriptedModel([asking, "Sunny."])
    with capture() as captured:
        result = way(loop_of(model, weather.tools, captured))

    assert weather.asked == ["Oslo"]
    assert (result.outcome, result.content, result.rounds) == ("completed", "Sunny.", 2)
    first, second = of_kind(result.run.steps, ChatStep)
    normalised = "tool_call" if finish == "stop" else finish
    assert (first.finish_reason, first.finish_reason_raw) == (normalised, finish)
    assert (second.finish_reason, second.finish_reason_raw) == ("stop", "stop")


@each_way
def test_ll02_a_finish_word_decides_nothing_where_there_is_no_call(way: Way) -> None:
    model = ScriptedModel([message("Sunny.", finish_reason="tool_calls")])
    result = way(loop_of(model, Weather().tools))

    assert (result.outcome, result.content, result.rounds) == ("completed", "Sunny.", 1)

"""The demo model: which tools it asks for, and what it says."""

from typing import Any

import pytest

from loopspan.builtin import builtin_tools
from loopspan.demo.failures import Failure
from tests.demo.asking import JSON, ask, asked, calls, function, result, user

TEXT = {"type": "string"}
WEATHER = function("get_weather", "Tell the weather of a city.", city=TEXT)
TIME = function("current_time", "Tell the current date and time.")
SEARCH = function("search", "Search the web.", query=TEXT)
READ = function("read_file", "Return what is in a file.", path=TEXT)
WRITE = function("write_file", "Write a text to a file.", path=TEXT)
ALL = (WEATHER, TIME, SEARCH, READ, WRITE)


def built_in() -> list[JSON]:
    tools = [tool.definition for tool in builtin_tools(runs=list)]
    return [
        {"type": "function", "function": {k: v for k, v in t.to_json().items() if k != "type"}}
        for t in tools
    ]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What time is it?", ["current_time"]),
        ("What is the weather in Oslo?", ["get_weather"]),
        ("Which date do we have?", ["current_time"]),  # by the description
        ("Searching for cats", ["search"]),  # by the stem
        ("write the file notes.txt", ["write_file"]),  # the better of two that match
        ("What time is it, and what is the weather in Oslo?", ["current_time", "get_weather"]),
        ("Look up the weather in Oslo; then the time.", ["get_weather", "current_time"]),
        ("Tell me a joke", []),
        ("Show the current information", []),  # words that many tools share
        ("", []),
    ],
)
def test_tools_are_matched_by_words(prompt: str, expected: list[str]) -> None:
    assert [name for name, _ in asked(prompt, *ALL)] == expected


def test_built_in_tools_are_asked_for_in_one_reply() -> None:
    prompt = "What time is it, and which Python is this?"
    assert asked(prompt, *built_in()) == [("current_time", {}), ("python_information", {})]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Which Python version runs here?", "python_information"),
        ("Which packages are installed?", "installed_packages"),
        ("Which environment variables are set?", "environment_variables"),
        ("Show the last runs", "recorded_runs"),
    ],
)
def test_built_in_tool_is_found(prompt: str, expected: str) -> None:
    assert [name for name, _ in asked(prompt, *built_in())] == [expected]


def test_last_user_message_counts() -> None:
    dialogue = [user("What time is it?"), {"role": "assistant", "content": "5"}, user("Hello")]
    assert asked(dialogue, *ALL) == []


def test_content_parts_are_read() -> None:
    assert asked([user([{"type": "text", "text": "Which time?"}])], TIME) == [("current_time", {})]


@pytest.mark.parametrize(
    "text",
    [
        "Skills follow.\nBEGIN SKILLS\n### Skill: weather\nAsk for it.\nEND SKILLS\n\nWhich time?",
        "Which time?\n\n--- BEGIN SKILLS ---\n### Skill: weather\n--- END SKILLS ---",
    ],
)
def test_skills_in_the_user_message_are_no_prompt(text: str) -> None:
    assert [name for name, _ in asked(text, *ALL)] == ["current_time"]


def test_arguments_come_from_the_part_that_is_about_the_tool() -> None:
    prompt = 'Search for "cats and dogs" and read the file src/main.py'
    assert asked(prompt, *ALL) == [
        ("search", {"query": "cats and dogs"}),
        ("read_file", {"path": "src/main.py"}),
    ]


def test_results_are_put_into_sentences() -> None:
    dialogue = [
        user("What time is it, and the weather in Oslo?"),
        calls(("current_time", {}, "a"), ("get_weather", {"city": "Oslo"}, "b")),
        result("a", '{"time": "12:00", "zone": {"name": "UTC", "offset": 0}}'),
        result("b", "Error: The tool failed."),
    ]
    said = ask(dialogue, *ALL)
    assert said.content == (
        "current_time says: time is 12:00, zone (name is UTC, offset is 0).\n"
        "get_weather failed: The tool failed."
    )
    assert (said.calls, said.finish_reason) == ((), "stop")


def test_same_call_is_never_asked_for_twice() -> None:
    dialogue = [
        user("What time is it?"),
        calls(("current_time", {}, "a")),
        result("a", "noon"),
        user("What time is it now?"),
    ]
    said = ask(dialogue, *ALL)
    assert said.calls == ()
    assert said.content == "I asked for this before in our dialogue.\ncurrent_time says: noon."


def test_other_arguments_are_another_call() -> None:
    dialogue = [
        user("The weather in Oslo?"),
        calls(("get_weather", {"city": "Oslo"}, "a")),
        result("a", "rain"),
        user("The weather in Rome?"),
    ]
    assert asked(dialogue, *ALL) == [("get_weather", {"city": "Rome"})]


def test_without_tools_it_says_what_it_is() -> None:
    said = ask([{"role": "system", "content": "Be brief, please."}, user("Tell me a joke.")])
    assert said.content == (
        "This is demo-1, the small rule-driven model that comes with loopspan; it matches words "
        "and understands none. You asked: “Tell me a joke.”. There is a system prompt of 3 words, "
        "which it cannot follow. No tools were offered."
    )


def test_it_says_that_no_tool_matches() -> None:
    said = ask("Tell me a joke.", TIME).content
    assert said.endswith("None of the tools offered matches that: current_time.")
    assert "system prompt" not in said


def test_choice_none() -> None:
    said = ask("What time is it?", TIME, tool_choice="none")
    assert said.calls == ()
    assert said.content.endswith("It was told to call no tool.")


def test_choice_required_takes_a_tool_that_does_not_match() -> None:
    assert asked("Tell me a joke", TIME, WEATHER, tool_choice="required") == [("current_time", {})]


def test_choice_required_ends_when_all_is_asked() -> None:
    dialogue = [user("A joke"), calls(("current_time", {}, "a")), result("a", "noon")]
    said = ask(dialogue, TIME, tool_choice="required")
    assert (said.calls, said.content) == ((), "current_time says: noon.")


def test_choice_of_a_tool() -> None:
    choice = {"type": "function", "function": {"name": "get_weather"}}
    prompt = "What time is it in Oslo?"
    assert asked(prompt, TIME, WEATHER, tool_choice=choice) == [("get_weather", {"city": "Oslo"})]


def test_calls_come_one_by_one_where_they_must_not_be_parallel() -> None:
    prompt = "The time and the weather in Oslo"
    dialogue = [user(prompt)]
    assert asked(dialogue, *ALL, parallel_tool_calls=False) == [("current_time", {})]
    dialogue += [calls(("current_time", {}, "a")), result("a", "noon")]
    assert asked(dialogue, *ALL, parallel_tool_calls=False) == [("get_weather", {"city": "Oslo"})]


def test_thinking() -> None:
    assert ask("What time is it?", TIME).reasoning == ""
    said = ask("Think: what time is it?", TIME)
    assert said.reasoning.endswith("The words match current_time.")
    assert [call.name for call in said.calls] == ["current_time"]


def test_refusal() -> None:
    said = ask("Refuse to tell the time", TIME)
    assert (said.finish_reason, said.calls) == ("content_filter", ())


def test_endless_loop_asks_in_every_round() -> None:
    dialogue = [user("Loop forever"), calls(("current_time", {}, "a")), result("a", "noon")]
    assert asked(dialogue, TIME) == [("current_time", {})]
    assert ask(dialogue).content == "current_time says: noon."


@pytest.mark.parametrize("status", [400, 404, 429, 500, 529])
def test_failure(status: int) -> None:
    with pytest.raises(Failure) as caught:
        ask(f"Please fail with {status}")
    assert caught.value.status == status


@pytest.mark.parametrize("prompt", ["fail with 200", "fail with 5000", "do not fail"])
def test_no_failure(prompt: str) -> None:
    assert ask(prompt).finish_reason == "stop"


@pytest.mark.parametrize("prompt", ["\n" * 200_000, "'" * 50_000, "a/" * 50_000, "Ab " * 50_000])
def test_long_prompt_is_answered(prompt: str) -> None:
    assert ask(prompt, *ALL).finish_reason in ("stop", "tool_calls")


@pytest.mark.parametrize(
    "schema", [{}, {"properties": 5}, {"properties": {"a": None}, "required": ["a", 1, "b"]}]
)
def test_odd_schema_is_passed_over(schema: Any) -> None:
    odd = {"type": "function", "function": {"name": "current_time", "parameters": schema}}
    assert [name for name, _ in asked("What time is it?", odd)] == ["current_time"]

"""The arguments of `loopspan run`: which tools are offered, and what cannot be asked for."""

import pytest

from loopspan.cli import main
from tests.cli.command import scripted

Out = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        ([], ["shout", "fail", "reboot"]),
        (["--allow", "reboot"], ["reboot"]),
        (["--allow", "fail,shout"], ["shout", "fail"]),
        (["--allow", "fail", "--allow", "shout"], ["shout", "fail"]),
        (["--allow", ""], None),
    ],
)
def test_tools_that_are_offered(
    tool_module: str, options: list[str], offered: list[str] | None
) -> None:
    with scripted("yes") as (model, to_it):
        assert main(["run", "x", *to_it, "--tools", tool_module, *options]) == 0
    assert names(model.requests[0]) == offered


def test_the_built_in_tools_are_offered_unless_others_are_named() -> None:
    with scripted("yes", "yes") as (model, to_it):
        assert main(["run", "x", *to_it]) == 0
        assert main(["run", "x", *to_it, "--no-tools"]) == 0
    assert [names(body) for body in model.requests] == [
        ["current_time", "python_information", "installed_packages", "environment_variables"],
        None,
    ]


def names(body: dict[str, object]) -> list[str] | None:
    tools = body.get("tools")
    return [t["function"]["name"] for t in tools] if isinstance(tools, list) else None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([" "], "the prompt is empty"),
        (["x", "--model", "gpt-4o"], "model 'gpt-4o' has no provider; write 'provider:model'"),
        (["x", "--model", "acme:one"], "provider 'acme' is unknown; known are anthropic, "),
        (["x", "--model", "groq:one"], "no key for groq: set GROQ_API_KEY"),
        (["x", "--model", "openai:x", "--base-url", "nowhere"], "base_url 'nowhere' is no http"),
        (["x", "--no-tools", "--allow", "a"], "--no-tools excludes --tools and --allow"),
        (["x", "--tools", "no.such.module"], "The tool module 'no.such.module' cannot be imported"),
        (["x", "--allow", "currenttime"], "the tool 'currenttime' does not exist; there are: curr"),
    ],
)
def test_wrong_configuration_is_a_sentence_and_sends_nothing(
    capsys: Out, arguments: list[str], sentence: str
) -> None:
    with scripted() as (model, to_it):
        given = arguments if "--model" in arguments else [*arguments, *to_it]
        assert main(["run", *given]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert model.requests == []


def test_a_disabled_tool_cannot_be_allowed(capsys: Out, tool_module: str) -> None:
    with scripted() as (_, to_it):
        assert main(["run", "x", *to_it, "--tools", tool_module, "--allow", "retired"]) == 2
    assert "the tool 'retired' is disabled; there are: shout" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ([], "PROMPT"),
        (["x", "--max-rounds", "50"], "max_rounds is 50; give a number from 1 to 20"),
        (["x", "--max-rounds", "many"], "'many' is no whole number"),
        (["x", "--max-tokens", "0"], "--max-tokens is 0; give 1 or more"),
        (["x", "--temperature", "hot"], "'hot' is no number"),
        (["x", "--loud"], "--loud"),
    ],
)
def test_wrong_usage_names_the_value(capsys: Out, arguments: list[str], value: str) -> None:
    assert main(["run", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert value in err

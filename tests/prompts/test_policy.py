"""Which tools a run may use: one rule for offering and for running, and the refusal says which."""

import logging

import pytest

from loopspan import Actor, Configuration, ToolLoop, ToolOptions, ToolRegistry, tool
from loopspan.prompts import Library, Skill, body_checksum
from loopspan.runs import ToolStep
from loopspan.testing import ScriptedModel, capture, message


def registry() -> ToolRegistry:
    def one() -> str:
        return "1"

    def two() -> str:
        return "2"

    def secret() -> str:
        return "3"

    def sleeping() -> str:
        return "4"

    return ToolRegistry(
        [tool(one), tool(two), tool(requires_admin=True)(secret), tool(enabled=False)(sleeping)]
    )


def library(allowed: tuple[str, ...] | None) -> Library:
    return Library((Skill("s", "x", checksum=body_checksum("x"), allowed_tools=allowed),))


@pytest.mark.parametrize(
    ("configured", "skills", "options", "offered"),
    [
        (None, None, ToolOptions(), ["one", "two"]),
        (("one",), None, ToolOptions(), ["one"]),
        (None, ("two", "other"), ToolOptions(), ["two"]),
        (None, (), ToolOptions(), []),
        (("one", "two"), ("two",), ToolOptions(allow=("one",)), []),
        (None, None, ToolOptions(allow=()), []),
        (None, None, ToolOptions(actor=Actor(is_admin=True)), ["one", "two", "secret"]),
        (("secret", "sleeping"), None, ToolOptions(actor=Actor(is_admin=True)), ["secret"]),
    ],
)
def test_each_list_only_takes_away(
    configured: tuple[str, ...] | None,
    skills: tuple[str, ...] | None,
    options: ToolOptions,
    offered: list[str],
) -> None:
    model = ScriptedModel(["ok"])
    configuration = Configuration(tools=configured, skills=("s",))
    ToolLoop(
        model.model,
        registry(),
        configuration=configuration,
        library=library(skills),
        client=model.client,
    ).run("Hi", options=options)
    sent = [t["function"]["name"] for t in model.requests[0].get("tools", [])]
    assert sent == offered
    assert ("tools" in model.requests[0]) is bool(offered)


@pytest.mark.parametrize(
    ("asked", "rule", "error"),
    [
        ("two", "allow_list:configuration", "tool_refused"),
        ("three", "not_registered", "unknown_tool"),
        ("sleeping", "disabled", "tool_refused"),
    ],
)
def test_a_refused_call_names_the_rule_in_trace_and_log(
    asked: str, rule: str, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel([message(tool_calls=[(asked, {})]), "ok"])
    with capture() as captured, caplog.at_level(logging.WARNING, "loopspan.tools"):
        loop = ToolLoop(
            model.model,
            registry(),
            configuration=Configuration(tools=("one", "sleeping")),
            tracer_provider=captured.provider,
            client=model.client,
        )
        result = loop.run("Hi")
    [step] = [s for s in result.run.steps if isinstance(s, ToolStep)]
    assert step.refused_by == rule
    assert step.error is not None
    assert step.error.type == error
    assert rule in caplog.text
    assert rule not in model.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(("skills", "rule"), [(("one",), "allow_list:skills")])
def test_a_skill_refuses_what_it_does_not_allow(skills: tuple[str, ...], rule: str) -> None:
    model = ScriptedModel([message(tool_calls=[("two", {})]), "ok"])
    with capture() as captured:
        loop = ToolLoop(
            model.model,
            registry(),
            configuration=Configuration(skills=("s",)),
            library=library(skills),
            tracer_provider=captured.provider,
            client=model.client,
        )
        result = loop.run("Hi")
    assert [s.refused_by for s in result.run.steps if isinstance(s, ToolStep)] == [rule]

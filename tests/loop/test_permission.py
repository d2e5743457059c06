"""Rule 3 of the loop: which tools a run may use, when they are offered and when they are run."""

from dataclasses import replace

import pytest

from loopspan import Actor, Configuration, ToolOptions, ToolRegistry, tool
from loopspan.testing import ScriptedModel, message
from tests.loop.ways import Way, each_way, loop_of

ADMIN = Actor("root", is_admin=True)


class Tools:
    """Two tools for everybody, one for admins, one that is switched off; `made` has the calls."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.registry = ToolRegistry(
            [
                tool(self.one),
                tool(self.two),
                tool(requires_admin=True)(self.secret),
                tool(enabled=False)(self.asleep),
            ]
        )

    def one(self) -> None:
        self.made.append("one")

    def two(self) -> None:
        self.made.append("two")

    def secret(self) -> None:
        self.made.append("secret")

    def asleep(self) -> None:
        self.made.append("asleep")


def asking_for_all() -> ScriptedModel:
    names = ("one", "two", "secret", "asleep", "unknown")
    return ScriptedModel([message(tool_calls=[(name, {}) for name in names]), "Done."])


@each_way
@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (ToolOptions(), ["one", "two"]),
        (ToolOptions(allow=("two", "asleep", "unknown")), ["two"]),
        (ToolOptions(allow=("one", "secret")), ["one"]),
        (ToolOptions(actor=Actor("ann")), ["one", "two"]),
        (ToolOptions(actor=ADMIN), ["one", "two", "secret"]),
        (ToolOptions(actor=ADMIN, allow=("secret",)), ["secret"]),
    ],
    ids=["none", "list", "admin-tool-in-list", "no-admin", "admin", "admin-list"],
)
def test_what_is_offered_is_what_can_be_run(
    way: Way, options: ToolOptions, allowed: list[str]
) -> None:
    tools, model = Tools(), asking_for_all()
    # One at a time, so that the order of the calls is that of the reply.
    result = way(loop_of(model, tools.registry), options=replace(options, parallel=1))

    assert [t["function"]["name"] for t in model.requests[0]["tools"]] == allowed
    assert tools.made == allowed
    assert (result.outcome, result.tool_calls) == ("completed", 5)


@each_way
def test_both_lists_must_let_a_tool_pass(way: Way) -> None:
    tools, model = Tools(), asking_for_all()
    loop = loop_of(model, tools.registry, configuration=Configuration(tools=("one", "secret")))
    way(loop, options=ToolOptions(allow=("two", "secret"), actor=ADMIN))

    assert tools.made == ["secret"]


def test_a_switch_during_a_run_holds_from_the_next_run_on() -> None:
    registry = ToolRegistry()

    @registry.register
    def switch() -> str:
        """Switch itself off."""
        registry.disable("switch")
        return "off"

    ask = message(tool_calls=[("switch", {})])
    model = ScriptedModel([ask, ask, "Done.", "Bye."])
    loop = loop_of(model, registry)
    loop.run("Go on.")
    loop.run("Go on.")

    assert ["tools" in body for body in model.requests] == [True, True, True, False]
    told = [m["content"] for m in model.requests[2]["messages"] if m["role"] == "tool"]
    assert told == ["off", "off"]

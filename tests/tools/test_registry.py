"""The registry of tools, and the rules that decide who may use which."""

import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import pytest

from loopspan.errors import ConfigurationError, ToolRefused, UnknownTool
from loopspan.tools import (
    Actor,
    AllowLists,
    Tool,
    ToolRegistry,
    ToolSet,
    decide,
    tool,
)

ADMIN = Actor("root", is_admin=True)
USER = Actor("ann")


def named(
    name: str, *, group: str | None = None, admin: bool = False, enabled: bool = True
) -> Tool:
    return tool(lambda: name, name=name, group=group, requires_admin=admin, enabled=enabled)


def registry() -> ToolRegistry:
    return ToolRegistry(
        [
            named("search", group="web"),
            named("fetch", group="web"),
            named("off", enabled=False),
            named("shell", admin=True),
        ]
    )


def names(tools: ToolSet | tuple[Tool, ...]) -> list[str]:
    return [each.name for each in tools]


def module_at(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)


def test_iterates_in_the_order_of_registration() -> None:
    tools = registry()
    tools.register(named("a_last"))
    assert names(tools) == ["search", "fetch", "off", "shell", "a_last"]
    assert len(tools) == 5


def test_finds_by_name() -> None:
    tools = registry()
    found = tools.get("fetch")
    assert found is not None
    assert found.name == "fetch"
    assert tools.get("nothing") is None
    assert "fetch" in tools
    assert "nothing" not in tools


def test_function_is_registered_as_a_tool() -> None:
    tools = ToolRegistry()

    @tools.register
    def double(x: int) -> int:
        return 2 * x

    assert double(2) == 4
    assert tools.get("double") is double


def test_functions_make_a_registry() -> None:
    def one() -> None: ...
    def two() -> None: ...

    assert names(ToolRegistry([one, two])) == ["one", "two"]


def test_second_tool_of_a_name_is_an_error_and_changes_nothing() -> None:
    tools = registry()
    with pytest.raises(ConfigurationError, match="two tools 'fetch'"):
        tools.register(named("fetch", admin=True))
    assert not tools.requires_admin("fetch")


def test_two_tools_of_a_name_make_no_registry() -> None:
    with pytest.raises(ConfigurationError, match="two tools 'a'"):
        ToolRegistry([named("a"), named("a")])


def test_switching_off_and_on() -> None:
    tools = registry()
    tools.disable("search", "fetch")
    assert names(tools.offered()) == []
    tools.enable("fetch", "off")
    assert names(tools.offered()) == ["fetch", "off"]
    assert names(tools) == ["search", "fetch", "off", "shell"]


def test_switching_an_unknown_tool_is_an_error_and_changes_nothing() -> None:
    tools = registry()
    with pytest.raises(ConfigurationError, match="no tool 'ftech'; registered are: 'search', 'f"):
        tools.disable("search", "ftech")
    assert names(tools.offered()) == ["search", "fetch"]


def test_groups() -> None:
    groups = {group: names(tools) for group, tools in registry().groups.items()}
    assert groups == {"web": ["search", "fetch"], None: ["off", "shell"]}


@pytest.mark.parametrize(("name", "expected"), [("shell", True), ("search", False), ("?", True)])
def test_unknown_name_counts_as_admin_only(name: str, expected: bool) -> None:
    assert registry().requires_admin(name) is expected


def test_snapshot_does_not_change() -> None:
    tools = registry()
    taken = tools.snapshot()
    tools.disable("search")
    tools.register(named("new"))
    assert names(taken.offered()) == ["search", "fetch"]
    assert "new" not in taken


def test_snapshot_cannot_be_changed() -> None:
    taken = registry().snapshot()
    assert not isinstance(taken, ToolRegistry)
    with pytest.raises(TypeError):
        taken._tools["x"] = named("x")  # type: ignore[index]  # it is what the test is about


def test_registry_may_change_while_others_read() -> None:
    tools = registry()

    def add(worker: int) -> None:
        for i in range(50):
            tools.register(named(f"{worker}-{i}"))
            tools.disable("fetch")
            assert names(tools.offered())[0] == "search"

    threads = [Thread(target=add, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tools) == 4 + 200


def test_modules_give_their_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from loopspan.tools import tool\n@tool\ndef b(): ...\n@tool\ndef a(): ...\n"
    module_at(tmp_path, monkeypatch, "tools_one", text)
    more = (
        "from tools_one import a\nfrom loopspan.tools import tool\nagain = a\n@tool\ndef c(): ..."
    )
    module_at(tmp_path, monkeypatch, "tools_two", more)
    assert names(ToolRegistry.from_modules(["tools_one", "tools_two"])) == ["b", "a", "c"]


def test_modules_with_two_tools_of_a_name_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from loopspan.tools import tool\n@tool\ndef a(): ...\n"
    module_at(tmp_path, monkeypatch, "tools_one", text)
    module_at(tmp_path, monkeypatch, "tools_two", text)
    with pytest.raises(ConfigurationError, match="two tools 'a'"):
        ToolRegistry.from_modules(["tools_one", "tools_two"])


def test_module_without_tools_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module_at(tmp_path, monkeypatch, "tools_none", "def a(): ...\n")
    with pytest.raises(ConfigurationError, match="'tools_none' has no tools"):
        ToolRegistry.from_modules(["tools_none"])


@pytest.mark.parametrize("name", ["no_such_module", "loopspan.no_such", "", ".relative", "a/b.py"])
def test_missing_module_is_an_error(name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be imported"):
        ToolRegistry.from_modules([name])


def test_module_that_fails_is_an_error_with_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module_at(tmp_path, monkeypatch, "tools_bad", "1 / 0\n")
    with pytest.raises(ConfigurationError, match="ZeroDivisionError") as caught:
        ToolRegistry.from_modules(["tools_bad"])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("lists", "actor", "expected"),
    [
        pytest.param({}, None, ["search", "fetch"], id="no-lists"),
        pytest.param({"options": None}, None, ["search", "fetch"], id="none"),
        pytest.param({"options": []}, ADMIN, [], id="empty"),
        pytest.param({"options": ["fetch", "?"]}, USER, ["fetch"], id="list"),
        pytest.param({"options": ["fetch", "off"]}, USER, ["fetch"], id="list-and-disabled"),
        pytest.param({"options": ["shell"]}, USER, [], id="admin-tool-for-user"),
        pytest.param({"options": ["shell"]}, ADMIN, ["shell"], id="admin-tool-for-admin"),
        pytest.param({}, ADMIN, ["search", "fetch", "shell"], id="admin"),
        pytest.param(
            {"options": {"search", "fetch"}, "skills": ("fetch",), "configuration": None},
            USER,
            ["fetch"],
            id="several-lists",
        ),
    ],
)
def test_offered(lists: AllowLists, actor: Actor | None, expected: list[str]) -> None:
    assert names(registry().offered(lists, actor)) == expected


@pytest.mark.parametrize(
    ("name", "lists", "actor", "rule"),
    [
        ("nothing", {}, USER, "not_registered"),
        ("nothing", {"options": ["nothing"]}, ADMIN, "not_registered"),
        ("off", {"options": ["off"]}, ADMIN, "disabled"),
        ("fetch", {"options": []}, USER, "allow_list:options"),
        (
            "fetch",
            {"options": None, "skills": ["search"], "configuration": []},
            USER,
            "allow_list:skills",
        ),
        ("shell", {"options": ["shell"]}, USER, "admin_only"),
        ("shell", {}, None, "admin_only"),
        ("shell", {}, Actor(), "admin_only"),
        ("shell", {}, ADMIN, None),
        ("fetch", {"options": ["fetch"]}, None, None),
    ],
)
def test_decision_names_its_rule(
    name: str, lists: AllowLists, actor: Actor | None, rule: str | None
) -> None:
    decision = decide(name, registry(), lists, actor)
    assert decision.rule == rule
    assert decision.allowed is (rule is None)
    assert (decision.reason is None) is decision.allowed


def test_reason_is_a_sentence() -> None:
    decision = decide("fetch", registry(), {"options": []})
    assert decision.reason == "Tool 'fetch' is not in the allow-list 'options'."


def test_allowed_decision_brings_the_tool() -> None:
    tools = registry()
    assert decide("fetch", tools).tool is tools.get("fetch")
    assert decide("fetch", tools).error is None


@pytest.mark.parametrize(("name", "error"), [("nothing", UnknownTool), ("off", ToolRefused)])
def test_refusal_is_an_error_of_our_tree(name: str, error: type[Exception]) -> None:
    assert type(decide(name, registry()).error) is error


def test_text_as_allow_list_is_an_error() -> None:
    lists: Mapping[str, str] = {"options": "fetcher"}
    with pytest.raises(ConfigurationError, match="'options' is the text 'fetcher'"):
        decide("fetch", registry(), lists)


def test_what_is_offered_is_what_is_allowed() -> None:
    tools = registry()
    lists = {"options": ["fetch", "shell", "off"]}
    for actor in (None, USER, ADMIN):
        offered = names(tools.offered(lists, actor))
        assert [t.name for t in tools if decide(t.name, tools, lists, actor).allowed] == offered

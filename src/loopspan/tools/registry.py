"""The tools that a program has: by name, in the order of registration, switchable."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import Any, Self

from loopspan.errors import ConfigurationError
from loopspan.tools.context import Actor
from loopspan.tools.permission import NO_LISTS, AllowLists, decide
from loopspan.tools.tool import Tool, tool


class ToolSet:
    """Tools by name, in order; it never changes, so a run can rely on it from start to end."""

    __slots__ = ("_tools",)
    _tools: Mapping[str, Tool]

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        """Raises `ConfigurationError` where two tools have one name."""
        self._tools = _with({}, tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of this name, if there is one."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        """Whether there is a tool of this name."""
        return name in self._tools

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._tools)})"

    @property
    def groups(self) -> Mapping[str | None, tuple[Tool, ...]]:
        """The tools of each group, in order; those without one are under `None`."""
        groups: dict[str | None, tuple[Tool, ...]] = {}
        for each in self:
            groups[each.group] = (*groups.get(each.group, ()), each)
        return groups

    def requires_admin(self, name: str) -> bool:
        """Whether only an admin may ask for the tool; an unknown name counts as such a one."""
        found = self.get(name)
        return found is None or found.requires_admin

    def offered(
        self, allow_lists: AllowLists = NO_LISTS, actor: Actor | None = None
    ) -> tuple[Tool, ...]:
        """Return the tools that this actor may use, in order."""
        return tuple(each for each in self if decide(each.name, self, allow_lists, actor).allowed)


class ToolRegistry(ToolSet):
    """Tools that come and go while runs go on: a change puts a new mapping in place of the old.

    A run works on the `snapshot()` that it took at its start.
    """

    __slots__ = ("_lock",)

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        """Functions become tools of their own name; raises `ConfigurationError` as `register`."""
        self._lock = Lock()
        super().__init__(map(_as_tool, tools))

    @classmethod
    def from_modules(cls, names: Iterable[str]) -> Self:
        """Return a registry of the `Tool` objects at the top of these modules.

        Raises `ConfigurationError` for a module that cannot be imported or has none.
        """
        found = [each for name in names for each in _tools_of(name)]
        return cls(dict.fromkeys(found))  # a tool that several modules know is still one

    def snapshot(self) -> ToolSet:
        """Return the tools as they are now; later changes do not reach it."""
        taken = ToolSet()
        taken._tools = self._tools
        return taken

    def register(self, item: Tool | Callable[..., Any]) -> Tool:
        """Add a tool, or a function as a tool, and return it; usable as a decorator.

        Raises `ConfigurationError` where the name is taken or the function cannot be a tool.
        """
        added = _as_tool(item)
        with self._lock:
            self._tools = _with(self._tools, (added,))
        return added

    def enable(self, *names: str) -> None:
        """Switch tools on; raises `ConfigurationError` for an unknown name, and changes nothing."""
        self._switch(names, True)

    def disable(self, *names: str) -> None:
        """Switch tools off; an unknown name is an error as in `enable`."""
        self._switch(names, False)

    def _switch(self, names: Iterable[str], enabled: bool) -> None:
        with self._lock:
            tools = dict(self._tools)
            for name in names:
                if name not in tools:
                    known = ", ".join(map(repr, tools)) or "none"
                    raise ConfigurationError(f"There is no tool {name!r}; registered are: {known}")
                tools[name] = replace(tools[name], enabled=enabled)
            self._tools = MappingProxyType(tools)


def _as_tool(item: Tool | Callable[..., Any]) -> Tool:
    return item if isinstance(item, Tool) else tool(item)


def _with(tools: Mapping[str, Tool], more: Iterable[Tool]) -> Mapping[str, Tool]:
    """Return the tools and some more; a name may be taken once."""
    result = dict(tools)
    for each in more:
        if each.name in result:
            raise ConfigurationError(
                f"There are two tools {each.name!r}; name one differently with `@tool(name=…)`"
            )
        result[each.name] = each
    return MappingProxyType(result)


def _tools_of(name: str) -> list[Tool]:
    try:
        module = importlib.import_module(name)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigurationError(
            f"The tool module {name!r} cannot be imported ({what}); is its folder on PYTHONPATH?"
        ) from error
    tools = [value for value in vars(module).values() if isinstance(value, Tool)]
    if not tools:
        raise ConfigurationError(f"The module {name!r} has no tools; mark functions with `@tool`")
    return tools

"""The one place that decides whether a tool may be used, when offering it and when running it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from loopspan.errors import ConfigurationError, ToolError, ToolRefused, UnknownTool
from loopspan.tools.context import Actor
from loopspan.tools.tool import Tool

AllowLists: TypeAlias = Mapping[str, Collection[str] | None]
"""Lists of tool names, each under the name of who set it (`options`, `configuration`, `skills`).

A tool must be in all of them. `None` is no list, an empty list lets nothing pass.
"""

NO_LISTS: AllowLists = {}


class Tools(Protocol):
    """Where tools are found by name."""

    def get(self, name: str) -> Tool | None:
        """Return the tool of this name, if there is one."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a tool may be used; where not, the rule that refused and a sentence about it.

    `rule` is `not_registered`, `disabled`, `allow_list:NAME` or `admin_only`.
    """

    allowed: bool
    rule: str | None = None
    reason: str | None = None
    tool: Tool | None = None

    @property
    def error(self) -> ToolError | None:
        """What a call that is refused ends with, `None` where it is allowed."""
        if self.allowed:
            return None
        return UnknownTool(self.reason) if self.tool is None else ToolRefused(self.reason)


def decide(
    name: str,
    tools: Tools,
    allow_lists: AllowLists = NO_LISTS,
    actor: Actor | None = None,
) -> Decision:
    """Return whether this actor may use the tool of this name; without an actor, no admin."""
    tool = tools.get(name)
    if tool is None:
        return Decision(False, "not_registered", f"There is no tool {name!r}.")
    if not tool.enabled:
        return Decision(False, "disabled", f"Tool {name!r} is disabled.", tool)
    for owner, names in allow_lists.items():
        if isinstance(names, str):
            raise ConfigurationError(f"The allow-list {owner!r} is the text {names!r}, not a list")
        if names is not None and name not in names:
            reason = f"Tool {name!r} is not in the allow-list {owner!r}."
            return Decision(False, f"allow_list:{owner}", reason, tool)
    if tool.requires_admin and not (actor and actor.is_admin):
        return Decision(False, "admin_only", f"Tool {name!r} is for admins only.", tool)
    return Decision(True, tool=tool)

"""Who uses the playground, and what they may do there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from starlette.requests import HTTPConnection

from loopspan.errors import ConfigurationError
from loopspan.tools import Actor

Permission: TypeAlias = Literal["view", "content", "run", "live_tools"]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who is known to the host application.

    `view` shows runs without what people, models and tools wrote; `content` shows that too; `run`
    starts, cancels, imports and renames runs; `live_tools` lets a run call tools. `is_admin` opens
    tools marked `requires_admin`.
    """

    name: str
    permissions: frozenset[Permission] = frozenset({"view"})
    is_admin: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.permissions) - set(PERMISSIONS))
        if unknown:
            known = ", ".join(PERMISSIONS)
            raise ConfigurationError(f"there is no permission {unknown[0]!r}; there are: {known}")

    def may(self, permission: Permission) -> bool:
        """Whether this is permitted."""
        return permission in self.permissions

    @property
    def actor(self) -> Actor:
        """Who the tools of a run serve."""
        return Actor(self.name, self.is_admin)


def administrator(name: str = "admin") -> Principal:
    """Return a principal who may do everything."""
    return Principal(name, frozenset(PERMISSIONS), is_admin=True)


Auth: TypeAlias = Callable[[HTTPConnection], Principal | Awaitable[Principal | None] | None]
"""Says who a request comes from, `None` for nobody; plain or async."""

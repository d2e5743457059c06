"""A function that a model may call: `@tool` makes a `Tool` of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, overload

from typing_extensions import ParamSpec, TypeVar

from loopspan.errors import ConfigurationError
from loopspan.messages import ToolDefinition
from loopspan.tools.context import ToolContext
from loopspan.tools.docstring import parse_docstring
from loopspan.tools.signature import ToolSignature, read_signature

# The defaults let `Tool` alone mean a tool of any signature.
P = ParamSpec("P", default=...)
R = TypeVar("R", default=Any)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every provider takes as the name of a tool."""


@dataclass(frozen=True, slots=True, eq=False)
class Tool(Generic[P, R]):
    """A function with what a model and the loop need to know about it; it is called as before.

    `timeout` is in seconds; `None` leaves it to the run. With `record=False` its arguments and
    results are in no record, whatever content a run may record.
    """

    function: Callable[P, R]
    definition: ToolDefinition
    signature: ToolSignature = field(repr=False)
    group: str | None = None
    requires_admin: bool = False
    enabled: bool = True
    timeout: float | None = None
    record: bool = True
    is_async: bool = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as it is, without any check."""
        return self.function(*args, **kwargs)

    @property
    def name(self) -> str:
        """The name that the model uses."""
        return self.definition.name

    @property
    def description(self) -> str | None:
        """What the model is told about the tool."""
        return self.definition.description

    def arguments(self, raw: object) -> dict[str, Any]:
        """Return the checked keyword arguments for what a model sent; `None` and `""` mean none.

        Raises `InvalidArguments`, whose text names fields and reasons but never a value.
        """
        return self.signature.check(self.name, raw)

    def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Call the function with checked arguments and the context, where it takes it.

        Gives an awaitable where the tool `is_async`.
        """
        given = dict.fromkeys(self.signature.context_parameters, context)
        function: Callable[..., Any] = self.function
        return function(**arguments, **given)


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    group: str | None = None,
    requires_admin: bool = False,
    enabled: bool = True,
    timeout: float | None = None,
    record: bool = True,
) -> Tool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    group: str | None = None,
    requires_admin: bool = False,
    enabled: bool = True,
    timeout: float | None = None,
    record: bool = True,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **settings: Any,
) -> Any:
    """Make a tool of a plain or async function; usable as `@tool` and as `@tool(name=…)`.

    The schema comes from the signature, the descriptions from the docstring; a parameter annotated
    with `ToolContext` is filled in by the loop. Raises `ConfigurationError` where the function
    cannot be a tool.
    """

    def make(function: Callable[..., Any]) -> Tool:
        return _make(function, name, description, settings)

    return make if function is None else make(function)


def _make(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    settings: Mapping[str, Any],
) -> Tool:
    if not callable(function):
        raise ConfigurationError(f"{function!r} is not a function; `@tool(name=…)` takes a name")
    name = _checked_name(function, name)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigurationError(f"Tool {name!r} is a generator; a tool returns its result at once")
    timeout = settings.get("timeout")
    if timeout is not None and timeout <= 0:
        raise ConfigurationError(
            f"The timeout of tool {name!r} is {timeout!r}; give seconds above 0"
        )
    said = parse_docstring(function.__doc__)
    signature = read_signature(function, name, said.parameters)
    definition = ToolDefinition(name, description or said.text, signature.schema)
    return Tool(function, definition, signature, is_async=_is_async(function), **settings)


def _checked_name(function: Callable[..., Any], name: str | None) -> str:
    # A partial or an object with `__call__` is a callable without a name.
    name = name or str(getattr(function, "__name__", ""))
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} cannot be the name of a tool: providers take 1 to 64 letters, digits, "
            f"'_' and '-'; give another with `@tool(name=…)`"
        )
    return name


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004  # an object with an async `__call__`
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)

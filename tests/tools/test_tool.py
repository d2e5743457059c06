"""`@tool`: what it makes of a function, and what it refuses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import FrozenInstanceError
from functools import partial
from typing import Annotated, Any

import pytest
from pydantic import Field

from loopspan.errors import ConfigurationError
from loopspan.tools import Actor, ToolContext, tool

CONTEXT = ToolContext(run_id="run", round=2, tool_call_id="call", actor=Actor("ann"))


@tool
def weather(city: str, days: Annotated[int, Field(ge=1, le=7)] = 1) -> str:
    """Tell the weather.

    It may be wrong.

    Args:
        city: Where to look,
            by its English name.
        days: How many days.

    Returns:
        A sentence.
    """
    return f"{city}: {days}"


@tool
def ping() -> str:
    return "pong"


def test_bare_decorator_makes_the_definition() -> None:
    assert weather.definition.to_json() == {
        "type": "function",
        "name": "weather",
        "description": "Tell the weather.\n\nIt may be wrong.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where to look, by its English name."},
                "days": {
                    "type": "integer",
                    "description": "How many days.",
                    "minimum": 1,
                    "maximum": 7,
                    "default": 1,
                },
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    }


def test_tool_without_parameters_has_an_empty_closed_schema() -> None:
    expected = {"type": "object", "properties": {}, "additionalProperties": False}
    assert ping.definition.parameters == expected


def test_definition_is_made_once() -> None:
    assert weather.definition is weather.definition


def test_decorator_takes_settings() -> None:
    @tool(
        name="other-name",
        description="Own words.",
        group="misc",
        requires_admin=True,
        enabled=False,
        timeout=2.5,
    )
    def documented() -> None:
        """Not used."""

    assert (documented.name, documented.description) == ("other-name", "Own words.")
    assert (documented.group, documented.timeout) == ("misc", 2.5)
    assert documented.requires_admin
    assert not documented.enabled


def test_function_can_be_given_with_settings() -> None:
    assert tool(weather.function, name="forecast").name == "forecast"


def test_tool_is_called_like_its_function() -> None:
    assert weather("Oslo", days=3) == "Oslo: 3"


def test_async_tool_is_called_like_its_function() -> None:
    @tool
    async def add(a: int, b: int) -> int:
        return a + b

    assert add.is_async
    assert asyncio.run(add(1, b=2)) == 3


def test_plain_tool_is_not_async() -> None:
    assert not weather.is_async


def test_object_with_async_call_is_async() -> None:
    class Adder:
        async def __call__(self, a: int) -> int:
            return a + 1

    assert tool(Adder(), name="adder").is_async


def test_bound_method_becomes_a_tool() -> None:
    class Counter:
        def count(self, step: int) -> int:
            return step

    assert tool(Counter().count).arguments({"step": 2}) == {"step": 2}


def test_partial_becomes_a_tool() -> None:
    fixed = tool(partial(weather.function, days=2), name="fixed")
    assert fixed.call(fixed.arguments({"city": "Oslo"}), CONTEXT) == "Oslo: 2"


def test_tool_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        weather.enabled = False  # type: ignore[misc]  # it is what the test is about


def test_context_is_injected_and_not_in_the_schema() -> None:
    @tool
    def who(greeting: str, context: ToolContext) -> object:
        return greeting, context

    assert list(who.definition.to_json()["parameters"]["properties"]) == ["greeting"]
    assert who.call(who.arguments({"greeting": "hi"}), CONTEXT) == ("hi", CONTEXT)


def test_optional_context_is_injected() -> None:
    @tool
    def who(context: ToolContext | None = None) -> object:
        return context

    assert "context" not in str(who.definition)
    assert who() is None
    assert who.call({}, CONTEXT) is CONTEXT


def test_function_without_docstring_has_no_description() -> None:
    assert ping.description is None


def positional(*args: int) -> None: ...
def keywords(**kwargs: int) -> None: ...
def positional_only(a: int, /) -> None: ...
def unknown_annotation(a: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def nested_unknown(a: list["Missing"]) -> None: ...  # type: ignore[name-defined]  # noqa: F821, UP037
def no_schema(a: Callable[[], int]) -> None: ...
def no_validation(a: re.Match[str] | asyncio.AbstractEventLoop) -> None: ...
def method(self) -> None: ...  # type: ignore[no-untyped-def]  # as in a class body
def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (positional, "*args: "),
        (keywords, "**kwargs: "),
        (positional_only, "'a' is positional-only"),
        (unknown_annotation, "name 'Missing' is not defined"),
        (nested_unknown, "Missing"),
        (no_schema, "no JSON Schema"),
        (no_validation, "no JSON Schema"),
        (method, "bound method"),
        (generator, "is a generator"),
        (async_generator, "is a generator"),
        (lambda: None, "'<lambda>' cannot be the name"),
        (partial(positional), "'' cannot be the name"),
        ("search", "'search' is not a function"),
    ],
)
def test_function_that_cannot_be_a_tool_is_a_clear_error(function: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        tool(function)


@pytest.mark.parametrize("name", ["a.b", "a b", "é", "x" * 65, "a\n"])
def test_name_that_a_provider_refuses_is_an_error(name: str) -> None:
    with pytest.raises(ConfigurationError, match="1 to 64 letters"):
        tool(ping.function, name=name)


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_timeout_must_be_positive(timeout: float) -> None:
    with pytest.raises(ConfigurationError, match="seconds above 0"):
        tool(ping.function, timeout=timeout)

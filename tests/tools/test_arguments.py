"""Arguments that a model sent, checked and read as the types of a function."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError

from loopspan.errors import InvalidArguments
from loopspan.tools import Tool, ToolContext, tool

CONTEXT = ToolContext(run_id="run", round=2)


def look_up(value: str) -> str:
    return {"known": "x"}[value]


class Colour(Enum):
    RED = "red"


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Refused(BaseModel):
    value: str

    @field_validator("value")
    @classmethod
    def refuse(cls, value: str) -> str:
        raise PydanticCustomError("value_error", "not {value}", {"value": value})


class Checked(BaseModel):
    value: str

    @field_validator("value")
    @classmethod
    def refuse(cls, value: str) -> str:
        raise ValueError(f"{value} is not good")


@tool
def weather(city: str, days: Annotated[int, Field(ge=1, le=7)] = 1) -> str:
    return f"{city}: {days}"


@tool
def ping() -> str:
    return "pong"


def message_of(of: Tool, arguments: object) -> str:
    with pytest.raises(InvalidArguments) as caught:
        of.arguments(arguments)
    return str(caught.value)


@pytest.mark.parametrize("raw", [None, "", {}])
def test_tc02_no_arguments_are_an_empty_object(raw: object) -> None:
    assert ping.arguments(raw) == {}


@pytest.mark.parametrize("raw", [None, "", {}])
def test_no_arguments_leave_defaults_to_the_function(raw: object) -> None:
    @tool
    def pick(a: int = 3) -> int:
        return a

    assert pick.call(pick.arguments(raw), CONTEXT) == 3


@pytest.mark.parametrize("raw", ['{"city": "Osl', "{'city': 'Oslo'}", '{"city": "Oslo"}', " "])
def test_ll01_raw_text_is_refused(raw: str) -> None:
    assert message_of(weather, raw) == "tool 'weather': the arguments are a str, not a JSON object"


@pytest.mark.parametrize("raw", [[], ["Oslo"], 1, True, b"{}"])
def test_only_a_json_object_is_taken(raw: object) -> None:
    assert "not a JSON object" in message_of(ping, raw)


def test_values_are_read_as_json() -> None:
    @tool
    def pick(pair: tuple[int, str], at: datetime, unique: set[int], data: bytes, n: int) -> None:
        """Pick."""

    raw = {
        "pair": [1, "b"],
        "at": "2026-01-02T03:04:05Z",
        "unique": [1, 1],
        "data": "x",
        "n": "5",
    }
    assert pick.arguments(raw) == {
        "pair": (1, "b"),
        "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "unique": {1},
        "data": b"x",
        "n": 5,
    }


def test_arguments_are_not_changed() -> None:
    raw = {"city": "Oslo", "days": "2"}
    weather.arguments(raw)
    assert raw == {"city": "Oslo", "days": "2"}


def test_message_names_fields_and_reasons() -> None:
    assert message_of(weather, {"days": "many", "x": 1}) == (
        "tool 'weather': city: Field required; days: Input should be a valid integer, "
        "unable to parse string as an integer; ?: Extra inputs are not permitted"
    )


def test_message_is_bounded() -> None:
    raw = {f"{i}" + "x" * 5_000: i for i in range(100)}
    said = message_of(ping, raw)
    assert said.endswith("; and 95 more")
    assert len(said) < 1_000


@pytest.mark.parametrize("depth", [300, 5_000])
def test_arguments_nested_too_deeply_are_refused(depth: int) -> None:
    @tool
    def pick(a: Any) -> None: ...

    deep: Any = 1
    for _ in range(depth):
        deep = [deep]
    assert message_of(pick, {"a": deep}).startswith("tool 'pick'")


def test_lone_surrogate_is_replaced() -> None:
    assert weather.arguments({"city": "\ud800"}) == {"city": "\ufffd"}


def test_validator_that_fails_refuses_the_arguments() -> None:
    @tool
    def pick(a: Annotated[str, AfterValidator(look_up)]) -> None: ...

    assert pick.arguments({"a": "known"}) == {"a": "x"}
    assert message_of(pick, {"a": "zebra"}) == "tool 'pick': a validator failed with KeyError"


def test_value_that_is_no_json_is_refused() -> None:
    assert message_of(weather, {"city": object()}).endswith("are no JSON (TypeError)")


def one_of(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None: ...
def validated(checked: Checked) -> None: ...
def refused(checked: Refused) -> None: ...
def identified(id: UUID) -> None: ...
def timed(at: datetime) -> None: ...
def coloured(colour: Colour) -> None: ...


@pytest.mark.parametrize(
    ("function", "raw", "field"),
    [
        (one_of, {"pet": {"kind": "zebra"}}, "pet"),
        (validated, {"checked": {"value": "zebra"}}, "checked.value"),
        (refused, {"checked": {"value": "zebra"}}, "checked.value"),
        (identified, {"id": "zebra"}, "id"),
        (timed, {"at": "zebra"}, "at"),
        (coloured, {"colour": "zebra"}, "colour"),
    ],
)
def test_message_and_chain_hold_no_value(
    function: Callable[..., None], raw: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        tool(function).arguments(raw)
    assert f" {field}: " in str(caught.value)
    assert "zebra" not in str(caught.value)
    assert "`z`" not in str(caught.value)
    assert "zebra" not in caught.value.told
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("raw", "place"),
    [({"sizes": {"zebra": "x"}}, "sizes.?"), ({"sizes": {}, "zebra": 1}, "?")],
)
def test_message_holds_no_name_that_the_model_made_up(raw: dict[str, object], place: str) -> None:
    @tool
    def pick(sizes: dict[str, int]) -> None: ...

    said = message_of(pick, raw)
    assert f" {place}: " in said
    assert "zebra" not in said


def test_model_cannot_give_the_context() -> None:
    @tool
    def who(context: ToolContext) -> None: ...

    assert "?: Extra inputs" in message_of(who, {"context": {"run_id": "x", "round": 1}})

"""Arguments for a call, from a schema and a prompt."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from loopspan.demo.arguments import arguments
from loopspan.demo.clues import Clues
from loopspan.tools import tool

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer"}
YES_NO = {"type": "boolean"}
UNIT = {"enum": ["celsius", "fahrenheit"]}
PERSON = {
    "type": "object",
    "properties": {"name": TEXT, "age": WHOLE, "friend": {"$ref": "#/$defs/Person"}},
    "required": ["name", "age"],
}


def fill(
    prompt: str, properties: dict[str, Any], required: Sequence[str] | None = None, **named: Any
) -> dict[str, Any]:
    needed = list(properties) if required is None else list(required)
    schema = {"type": "object", "properties": properties, "required": needed, "$defs": named}
    clues = Clues(prompt)
    return arguments(schema, clues, clues)


@pytest.mark.parametrize(
    ("prompt", "schema", "expected"),
    [
        ('about "blue whales" please', TEXT, "blue whales"),
        ("about `x = 1` please", TEXT, "x = 1"),
        ("is it in New York today", TEXT, "New York"),
        ("Oslo, please", TEXT, "Oslo"),
        ("the one in oslo now", TEXT, "oslo"),
        ("the page https://example.org/a?b=c.", TEXT, "https://example.org/a?b=c"),
        ("of src/main.py and of Oslo", TEXT, "src/main.py"),
        ("place: Rome, not Oslo", TEXT, "Rome"),
        ('my place is "Old Town"?', TEXT, "Old Town"),
        ("2 and 3", NUMBER, 2),
        ("minus -2.5 degrees", NUMBER, -2.5),
        ("on 2025-05-01 at 10:30, 7 of them", WHOLE, 7),
        ("2.9", WHOLE, 2),
        ("nothing", WHOLE, 1),
        ("nothing", {**WHOLE, "default": 4}, 4),
        ("500", {**WHOLE, "maximum": 50}, 50),
        ("0", {**WHOLE, "exclusiveMinimum": 0}, 1),
        ("of it", YES_NO, True),
        ("of it", {**YES_NO, "default": False}, False),
        ("with place", {**YES_NO, "default": False}, True),
        ("without place", YES_NO, False),
        ("in Fahrenheit", UNIT, "fahrenheit"),
        ("as usual", UNIT, "celsius"),
        ("as usual", {**UNIT, "default": "fahrenheit"}, "fahrenheit"),
        ("3 of them", {"enum": [1, 3]}, 3),
        ("whatever", {"const": "v1"}, "v1"),
        ("to ada@example.com", {**TEXT, "format": "email"}, "ada@example.com"),
        ("on 2025-05-01", {**TEXT, "format": "date"}, "2025-05-01"),
        ("on 2025-05-01", {**TEXT, "format": "date-time"}, "2025-05-01T00:00:00Z"),
        ("soon", {**TEXT, "format": "date"}, "2025-01-01"),
        ('"abcdef"', {**TEXT, "maxLength": 3}, "abc"),
        ("5", {"anyOf": [{"type": "null"}, WHOLE]}, 5),
        ("5", {"type": ["null", "integer"]}, 5),
        ("5", {"allOf": [WHOLE, {"maximum": 3}]}, 3),
        ("it", {"type": "null"}, None),
        ("Oslo", {}, "Oslo"),
        ("1, 2 and 3", {"type": "array", "items": WHOLE}, [1, 2, 3]),
        ("in Oslo, Rome", {"type": "array", "items": TEXT}, ["Oslo", "Rome"]),
        ('"a", "b", "c"', {"type": "array", "items": TEXT, "maxItems": 2}, ["a", "b"]),
        ("none", {"type": "array", "items": WHOLE, "minItems": 2}, [1, 1]),
        ("5 in Oslo", {"type": "array", "prefixItems": [TEXT, WHOLE]}, ["Oslo", 5]),
        ("celsius", {"type": "array", "items": UNIT}, ["celsius"]),
        ("x", {"type": "object"}, {}),
    ],
)
def test_required_value(prompt: str, schema: dict[str, Any], expected: Any) -> None:
    assert fill(prompt, {"place": schema}) == {"place": expected}


@pytest.mark.parametrize(
    ("prompt", "schema", "expected"),
    [
        ("the time in Oslo, 5 times", TEXT, None),
        ("the time in Europe/Oslo", TEXT, "Europe/Oslo"),
        ('the time in "Oslo"', TEXT, "Oslo"),
        ("the time, zone Oslo", TEXT, "Oslo"),
        ("about 5 of them", WHOLE, None),
        ("zone 5", WHOLE, 5),
        ("in 3 zone", WHOLE, 3),
        ("all of it", YES_NO, None),
        ("with the zone", YES_NO, True),
        ("without the zone", YES_NO, False),
        ("as usual", UNIT, None),
        ("in celsius", UNIT, "celsius"),
        ("Oslo 5", {"type": "array", "items": TEXT}, None),
    ],
)
def test_optional_value_only_where_the_prompt_gives_it(
    prompt: str, schema: dict[str, Any], expected: Any
) -> None:
    assert fill(prompt, {"zone": schema}, ()).get("zone") == expected


def test_limit_takes_any_number() -> None:
    assert fill("the last 3 runs", {"limit": WHOLE}, ()) == {"limit": 3}


def test_values_are_used_once_each_in_order() -> None:
    prompt = 'from Oslo to Rome, "quick", 2 adults and 3 children'
    properties = {"how": TEXT, "origin": TEXT, "goal": TEXT, "adults": WHOLE, "children": WHOLE}
    assert fill(prompt, properties) == {
        "how": "quick",
        "origin": "Oslo",
        "goal": "Rome",
        "adults": 2,
        "children": 3,
    }


def test_required_values_come_first_and_order_stays() -> None:
    filled = fill('"a"', {"maybe": TEXT, "must": TEXT}, ("must",))
    assert filled == {"must": "a"}


def test_free_text_is_the_rest_of_the_prompt() -> None:
    clues = Clues("Search for cheap flights to Oslo.", frozenset({"search"}))
    schema = {"type": "object", "properties": {"query": TEXT}, "required": ["query"]}
    assert arguments(schema, clues, clues) == {"query": "cheap flights to Oslo"}


def test_whole_prompt_is_asked_where_the_part_says_nothing() -> None:
    schema = {"properties": {"city": TEXT, "days": WHOLE}, "required": ["city", "days"]}
    near, whole = Clues("the weather"), Clues("the time and the weather in Oslo for 3 days")
    assert arguments(schema, near, whole) == {"city": "Oslo", "days": 3}


def test_nested_objects_and_references() -> None:
    filled = fill(
        "Ada 36",
        {"person": {"$ref": "#/$defs/Person"}, "people": {"type": "array", "items": PERSON}},
        Person=PERSON,
    )
    assert filled["person"] == {"name": "Ada", "age": 36}
    assert [sorted(person) for person in filled["people"]] == [["age", "name"]]


@pytest.mark.parametrize(
    "endless",
    [
        {"$ref": "#"},
        {"$ref": "#/properties/a"},
        {"allOf": [{"$ref": "#/properties/a"}] * 3},
        {"type": "array", "items": {"$ref": "#/properties/a"}},
        {"$ref": "https://example.com/schema"},
    ],
)
def test_endless_schema_ends(endless: dict[str, Any]) -> None:
    assert "a" in fill("Oslo", {"a": endless})


class Stop(BaseModel):
    """A place on the way."""

    city: str
    nights: Annotated[int, Field(ge=1, le=14)]
    kind: Literal["hotel", "tent"] = "hotel"


@tool
def plan_trip(
    traveller: str,
    stops: list[Stop],
    budget: float | None,
    tags: Annotated[list[str], Field(min_length=1, max_length=3)],
    start: Annotated[str, Field(pattern=r".")] = "",
    express: bool = False,
) -> None:
    """Plan a trip."""


@pytest.mark.parametrize(
    "prompt",
    ["", "Plan a trip", "Plan a trip for Ada: 99 nights in Oslo, express, budget 10.5, no tent"],
)
def test_arguments_are_valid_for_the_tool(prompt: str) -> None:
    clues = Clues(prompt)
    filled = arguments(plan_trip.definition.parameters or {}, clues, clues)
    assert plan_trip.arguments(filled).keys() >= {"traveller", "stops", "budget", "tags"}

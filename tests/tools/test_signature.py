"""The JSON Schema of a function's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from loopspan.tools import Tool, ToolContext, tool

CONTEXT = ToolContext(run_id="run", round=2)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Shape(BaseModel):
    """A shape to draw."""

    title: str
    points: list[Point] = []
    colour: Colour = Colour.RED


def properties(of: Tool) -> Any:
    assert of.definition.parameters is not None
    return of.definition.parameters["properties"]


def test_nested_types_have_no_made_up_titles() -> None:
    @tool
    def draw(shape: Shape) -> None: ...

    assert draw.definition.parameters == {
        "type": "object",
        "properties": {"shape": {"$ref": "#/$defs/Shape"}},
        "required": ["shape"],
        "additionalProperties": False,
        "$defs": {
            "Colour": {"type": "string", "enum": ["red", "blue"]},
            "Point": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                "required": ["x"],
            },
            "Shape": {
                "type": "object",
                "description": "A shape to draw.",
                "properties": {
                    "title": {"type": "string"},
                    "points": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/Point"},
                        "default": [],
                    },
                    "colour": {"$ref": "#/$defs/Colour", "default": "red"},
                },
                "required": ["title"],
            },
        },
    }


def test_nested_values_arrive_as_their_types() -> None:
    @tool
    def draw(shape: Shape) -> None: ...

    given = draw.arguments({"shape": {"title": "t", "points": [{"x": 1}], "colour": "blue"}})
    assert given == {"shape": Shape(title="t", points=[Point(1)], colour=Colour.BLUE)}


def test_literal_becomes_an_enumeration() -> None:
    @tool
    def pick(unit: Literal["C", "F"] = "C") -> None: ...

    assert properties(pick) == {"unit": {"type": "string", "enum": ["C", "F"], "default": "C"}}


def test_description_in_the_annotation_wins() -> None:
    @tool
    def pick(a: Annotated[int, Field(description="annotated")]) -> None:
        """Pick.

        Args:
            a: in the docstring
        """

    assert properties(pick)["a"]["description"] == "annotated"


def test_own_title_stays() -> None:
    @tool
    def pick(a: Annotated[int, Field(title="Amount")]) -> None: ...

    assert properties(pick)["a"]["title"] == "Amount"


def test_alias_is_the_name_for_the_model() -> None:
    @tool
    def pick(from_: Annotated[str, Field(alias="from")]) -> None: ...

    assert list(properties(pick)) == ["from"]
    assert pick.arguments({"from": "here"}) == {"from_": "here"}


def test_field_as_default_gives_its_default() -> None:
    @tool
    def pick(a: int = Field(3, ge=1)) -> None: ...

    assert properties(pick)["a"] == {"type": "integer", "minimum": 1, "default": 3}
    assert pick.arguments({}) == {"a": 3}


@pytest.mark.parametrize("name", ["json", "schema", "model_config", "_private", "copy", "p0"])
def test_parameter_may_have_any_name(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def pick(other: int, {name}: int = 0) -> None: ...", namespace)
    made = tool(namespace["pick"])
    assert list(properties(made)) == ["other", name]
    assert made.arguments({"other": 1, name: 2}) == {"other": 1, name: 2}


def test_default_that_json_cannot_hold_is_left_to_the_function() -> None:
    missing = object()

    @tool
    def pick(a: Any = missing) -> bool:
        return a is missing

    assert properties(pick) == {"a": {}}
    assert pick.call(pick.arguments({}), CONTEXT) is True


def test_unannotated_parameter_takes_anything() -> None:
    @tool
    def pick(a, b=1) -> object:  # type: ignore[no-untyped-def]  # it is what the test is about
        return a, b

    assert properties(pick) == {"a": {}, "b": {"default": 1}}

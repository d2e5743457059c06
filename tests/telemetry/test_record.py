"""Attributes of the SDK as plain data."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import ReadableSpan

from loopspan.telemetry.record import copied


class Bare(Mapping[str, Any]):
    """A mapping that can do no more than it must; other span processors may make spans of it."""

    def __getitem__(self, key: str) -> Any:
        return {"a": 1}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "attributes",
    [{"a": 1}, MappingProxyType({"a": 1}), Bare(), BoundedAttributes(attributes={"a": 1})],
)
def test_attributes_of_any_mapping(attributes: Mapping[str, Any]) -> None:
    span = ReadableSpan("x", attributes=attributes)
    assert copied(span.attributes) == copied(attributes) == {"a": 1}
    assert copied(attributes) is not attributes


def test_no_attributes() -> None:
    assert copied(None) == copied(ReadableSpan("x").attributes) == {}

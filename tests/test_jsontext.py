"""JSON text in and out: total, so that no model and no tool can break what reads it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.jsontext import dump, load

texts = st.text(st.characters(codec=None))
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.integers(), inner),
    max_leaves=9,
)


@given(text=texts | st.binary())
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    try:
        load(text)
    except ValueError:
        return


@given(value=values)
def test_any_value_is_written_as_json_that_can_be_read(value: Any) -> None:
    load(dump(value).decode())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"\\ud800"', "\ud800"),
        ('"\ud800"', "\ud800"),
        ("\ufeff[1]", [1]),
        (b"\xef\xbb\xbf[1]", [1]),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_odd_json_is_read(text: str | bytes, value: Any) -> None:
    assert load(text) == value


@pytest.mark.parametrize("text", ["", "{", "[1", "\ud800", b"\xff", "[" * 100_000])
def test_bad_text_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # which one, and with what text, says the parser
        load(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), b"null"),
        (float("-inf"), b"null"),
        ("\ud800", '"\ufffd"'.encode()),
        ({"\ud800": 1}, '{"\ufffd":1}'.encode()),
        (b"\x00", b'"AA=="'),
        ({1: (2, 3)}, b'{"1":[2,3]}'),
    ],
)
def test_what_json_cannot_hold_is_written_as_what_can_be_used(value: Any, text: bytes) -> None:
    assert dump(value) == text

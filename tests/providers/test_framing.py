"""How a stream's bytes fall into events, wherever they are cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.providers.framing import Event, Framing, decoder
from tests.corpus import cut, single_bytes
from tests.providers.strategies import json_values


def events(framing: Framing, *chunks: bytes) -> list[Event]:
    """The events of a stream that comes in these chunks."""
    reader = decoder(framing)
    return [e for chunk in chunks for e in reader.feed(chunk)] + list(reader.close())


def texts(framing: Framing, *chunks: bytes) -> list[str]:
    """The texts of these events."""
    return [event.text for event in events(framing, *chunks)]


# Server-sent events


def test_an_event_is_its_data() -> None:
    assert events("sse", b"data: a\n\ndata: b\n\n") == [Event("a"), Event("b")]


def test_an_event_may_have_a_name() -> None:
    data = b"event: ping\ndata: {}\n\ndata: a\n\n"
    assert events("sse", data) == [Event("{}", "ping"), Event("a")]


def test_lines_of_data_are_joined() -> None:
    assert texts("sse", b"data: a\ndata: b\n\n") == ["a\nb"]


def test_one_blank_after_the_colon_is_not_data() -> None:
    assert texts("sse", b"data:a\n\ndata:  b\n\ndata\n\n") == ["a", " b", ""]


def test_comments_and_other_fields_are_passed_over() -> None:
    data = b": PROCESSING\n\nid: 1\nretry: 5\ndata: a\n: again\n\n data: no field\n\n"
    assert texts("sse", data) == ["a"]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_lines_may_end_either_way(ending: bytes) -> None:
    assert texts("sse", ending.join([b"data: a", b"", b"data: b", b"", b""])) == ["a", "b"]


def test_the_last_blank_line_may_be_missing() -> None:
    assert texts("sse", b"data: a\n\ndata: b") == ["a", "b"]
    assert texts("sse", b"data: a\n") == ["a"]


def test_an_event_comes_as_soon_as_it_is_whole() -> None:
    reader = decoder("sse")
    assert list(reader.feed(b"data: a\n")) == []
    assert list(reader.feed(b"\nda")) == [Event("a")]
    assert list(reader.feed(b"ta: b\n\n")) == [Event("b")]
    assert list(reader.close()) == []


def test_a_character_that_is_cut_is_whole_again() -> None:
    assert texts("sse", *single_bytes("data: é🎉\n\n".encode())) == ["é🎉"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert texts("sse", b"data: \xff\n\n") == ["\ufffd"]


_lines = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=8)


@given(st.lists(_lines, max_size=4), st.lists(st.integers(0), max_size=6))
def test_events_may_be_cut_anywhere(data: list[str], places: list[int]) -> None:
    stream = "".join(f"data: {text}\n\n" for text in data).encode()
    assert texts("sse", *cut(stream, places)) == data


# NDJSON


def test_each_line_is_an_event() -> None:
    assert texts("ndjson", b'{"a":1}\n\n  \n{"b":2}\r\n{"c":3}') == [
        '{"a":1}',
        '{"b":2}',
        '{"c":3}',
    ]


@given(st.lists(json_values, max_size=4), st.lists(st.integers(0), max_size=6))
def test_lines_may_be_cut_anywhere(values: list[Any], places: list[int]) -> None:
    stream = "".join(f"{json.dumps(value)}\n" for value in values).encode()
    assert [json.loads(text) for text in texts("ndjson", *cut(stream, places))] == values


# One array


def test_each_element_is_an_event() -> None:
    assert texts("json-array", b'[{"a": [1]},\n{"b": {"c": "]}"}}\n]') == [
        '{"a": [1]}',
        '{"b": {"c": "]}"}}',
    ]


def test_quotes_and_backslashes_within_text_end_nothing() -> None:
    elements = [r'{"a":"\"}{"}', r'{"b":"\\"}', '{"c":1}']
    stream = f"[{','.join(elements)}]".encode()
    assert texts("json-array", stream) == elements
    assert texts("json-array", *single_bytes(stream)) == elements


def test_an_element_comes_before_the_array_is_over() -> None:
    reader = decoder("json-array")
    assert list(reader.feed(b'[{"a"')) == []
    assert list(reader.feed(b":1}\n")) == [Event('{"a":1}')]
    assert list(reader.feed(b"]")) == []
    assert list(reader.close()) == []


def test_an_object_instead_of_an_array_is_one_event() -> None:
    assert texts("json-array", b'{"error": {"code": 400}}') == ['{"error": {"code": 400}}']


def test_text_instead_of_an_array_is_one_event() -> None:
    assert texts("json-array", b"upstream is down") == ["upstream is down"]


def test_an_element_that_is_cut_off_is_given_as_far_as_it_came() -> None:
    assert texts("json-array", b'[{"a":1},{"b"') == ['{"a":1}', '{"b"']


@pytest.mark.parametrize("framing", ["sse", "ndjson", "json-array"])
def test_nothing_is_no_event(framing: Framing) -> None:
    assert events(framing) == events(framing, b"") == []


_objects = st.dictionaries(st.text(max_size=4), json_values, max_size=3)


@given(
    st.lists(_objects, max_size=4),
    st.sampled_from([None, 1]),
    st.lists(st.integers(0), max_size=6),
)
def test_an_array_may_be_cut_anywhere(
    values: list[dict[str, Any]], indent: int | None, places: list[int]
) -> None:
    stream = json.dumps(values, ensure_ascii=False, indent=indent).encode()
    assert [json.loads(text) for text in texts("json-array", *cut(stream, places))] == values

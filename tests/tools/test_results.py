"""What a tool returned: its text, its limit, and the failure that it tells itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from loopspan.tools import RESULT_LIMIT, cap, result_text, returned_error


class Answer(BaseModel):
    error: str | None = None
    is_error: bool = False


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as {it} is", "as {it} is"),
        ("", ""),
        (None, "null"),
        ({"a": [1, 2.5]}, '{"a":[1,2.5]}'),
        (Answer(error="x"), '{"error":"x","is_error":false}'),
        (Point(1), '{"x":1}'),
        (datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00Z"'),
        (float("nan"), "null"),
        ("lone \ud800", "lone \ufffd"),
    ],
)
def test_result_text(value: object, text: str) -> None:
    assert result_text(value) == text


def test_cut_is_marked_with_both_sizes() -> None:
    assert cap("x" * 61_004) == ("x" * 49_962 + "… [cut: 49,962 of 61,004 bytes kept]", 61_004)


def test_cut_is_at_a_character() -> None:
    text, size = cap("€" * 100, 60)
    assert (text, size) == ("€" * 9 + "… [cut: 27 of 300 bytes kept]", 300)


@pytest.mark.parametrize(
    ("limit", "text"),
    [(-1, ""), (0, ""), (2, ""), (3, "…"), (5, "ab…"), (20, "abcdefghijklmnopq…")],
)
def test_tiny_limits_keep_the_limit(limit: int, text: str) -> None:
    assert cap("abcdefghijklmnopqrstuvwxyz", limit) == (text, 26)


def test_default_limit() -> None:
    text, _ = cap("x" * 50_001)
    assert len(text.encode()) == RESULT_LIMIT == 50_000


def test_lone_surrogate_does_not_stop_the_cut() -> None:
    assert cap("\ud800" * 10, 5) == ("…", 30)


TEXTS = st.one_of(st.text(), st.text("aé€😀", min_size=30, max_size=200))
LIMITS = st.integers(0, 120)


@given(TEXTS, LIMITS)
def test_capped_text_is_never_over_the_limit(text: str, limit: int) -> None:
    capped, _ = cap(text, limit)
    assert len(capped.encode()) <= limit


@given(TEXTS, LIMITS)
def test_what_fits_is_unchanged_and_only_that_has_no_size(text: str, limit: int) -> None:
    capped, size = cap(text, limit)
    fits = len(text.encode()) <= limit
    assert (size is None) is fits
    assert capped == text or not fits


@given(TEXTS, LIMITS)
def test_what_is_kept_is_the_beginning(text: str, limit: int) -> None:
    capped, size = cap(text, limit)
    kept, mark, rest = capped.rpartition("…")
    assert text.startswith(kept)
    if size is not None and limit >= 3:
        assert mark == "…"
        expected = f" [cut: {len(kept.encode()):,} of {len(text.encode()):,} bytes kept]"
        assert rest in ("", expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"error": "no such user"}, True),
        ({"error": {"code": 1}}, True),
        ({"isError": True}, True),
        ({"is_error": True, "content": "x"}, True),
        (Answer(error="no such user"), True),
        (Answer(is_error=True), True),
        ({"error": None}, False),
        ({"error": ""}, False),
        ({"isError": False}, False),
        ({"isError": "no"}, False),
        ({}, False),
        (Answer(), False),
        ("error", False),
        ('{"error": "text"}', False),
        (["error"], False),
        (None, False),
    ],
)
def test_tc03_returned_error(value: Mapping[str, object] | object, expected: bool) -> None:
    assert returned_error(value) is expected

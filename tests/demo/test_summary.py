"""Tool results in the demo model's sentences."""

import json
from typing import Any

import pytest

from loopspan.demo.summary import summary

MANY = {f"key_{n}": n for n in range(9)}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("It rains", "t says: It rains."),
        ("It rains!", "t says: It rains!"),
        ("", "t says nothing."),
        ("3.5", "t says: 3.5."),
        ('"quoted"', "t says: quoted."),
        ("null", "t says: unknown."),
        ("true", "t says: true."),
        ("{}", "t gives an empty result."),
        ("[]", "t gives an empty result."),
        ("[1]", "t gives 1 value: 1."),
        ('["a", "b", "c"]', "t gives 3 values: a, b and c."),
        ("[1, 2, 3, 4, 5, 6]", "t gives 6 values: 1, 2, 3, 4 and 2 more."),
        ('[{"a": 1}, {"a": 2}]', "t gives 2 entries, the first with a is 1."),
        ('{"is_ok": true, "note": ""}', "t says: is ok is true, note is empty."),
        ('{"none": [], "at": {"x": 1, "y": 2}}', "t says: no none, at (x is 1, y is 2)."),
        ('{"a": [{"b": [1, 2]}]}', "t says: a: 1 entry, the first with b: 1 and 2."),
        ('{"error": "no such zone"}', "t failed: no such zone."),
        ('{"error": {"code": 5}}', "t failed: code is 5."),
        ('{"error": null, "a": 1}', "t says: error is unknown, a is 1."),
        ('{"isError": true, "reason": "late"}', "t failed: reason is late."),
        ("Error: The tool failed.", "t failed: The tool failed."),
        ("two\n\nlines", "t says: two lines."),
    ],
)
def test_sentence(result: str, expected: str) -> None:
    assert summary("t", result) == expected


def test_many_facts_are_counted() -> None:
    said = summary("t", json.dumps(MANY))
    assert said.endswith("key 4 is 4, key 5 is 5 and 3 more.")


@pytest.mark.parametrize("value", ["x" * 10_000, {"a": "x" * 10_000}, [["x" * 10_000]]])
def test_long_text_is_cut(value: Any) -> None:
    said = summary("t", value if isinstance(value, str) else json.dumps(value))
    assert len(said) < 400


def test_deep_result_is_counted() -> None:
    deep: Any = 1
    for _ in range(90):
        deep = {"in": deep, "by": [deep]}
        deep = {"x": deep} if len(json.dumps(deep)) < 5_000 else {"x": 1}
    assert len(summary("t", json.dumps(deep))) < 400

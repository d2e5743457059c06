"""Times, tokens, money and cut texts in words."""

import pytest

from loopspan.runs.steps import TokenUsage
from loopspan.runs.text.figures import Bytes, cut, duration, one_line, tokens, usd


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, "no end recorded"),
        (0.04, "0.0 ms"),
        (9.96, "10.0 ms"),
        (312.4, "312 ms"),
        (1240, "1.24 s"),
        (123_000, "2 min 03 s"),
    ],
)
def test_duration(milliseconds: float | None, words: str) -> None:
    assert duration(milliseconds) == words


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (0, "$0"),
        (0.0000045, "$0.0000045"),
        (0.0123, "$0.012"),
        (0.5, "$0.50"),
        (1234.5, "$1,234.50"),
    ],
)
def test_usd(cost: float, words: str) -> None:
    assert usd(cost) == words


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (TokenUsage(), "unknown"),
        (TokenUsage(input_tokens=1200), "1,200 in / unknown out"),
        (TokenUsage(input_tokens=0, output_tokens=0), "0 in / 0 out"),
        (
            TokenUsage(
                input_tokens=310,
                output_tokens=82,
                cache_read_input_tokens=120,
                reasoning_output_tokens=40,
            ),
            "310 in (120 cached) / 82 out (40 reasoning)",
        ),
    ],
)
def test_tokens(usage: TokenUsage, words: str) -> None:
    assert tokens(usage) == words


@pytest.mark.parametrize(
    ("text", "most", "kept", "rest"),
    [
        ("", 3, [""], None),
        ("a\nb\n", 3, ["a", "b"], None),
        ("a\nb\nc\nd", 3, ["a", "b", "c"], "… 1 more line"),
        ("a\nb\nc\nd\ne", 3, ["a", "b", "c"], "… 2 more lines"),
        ("a\nb\nc\nd", None, ["a", "b", "c", "d"], None),
        ("x" * 301, 3, ["x" * 300], "… 1 more character"),
        ("a\n" + "x" * 450, 3, ["a", "x" * 200], "… 250 more characters"),
        ("a\x1b\nb", 1, ["a\\x1b"], "… 1 more line"),
    ],
)
def test_cut(text: str, most: int | None, kept: list[str], rest: str | None) -> None:
    assert cut(text, most) == (kept, rest)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a", "a"), ("a\nb", "a …"), ("x" * 100, "x" * 100), ("x" * 101, "x" * 100 + " …")],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(
    ("text", "limit", "kept", "rest"),
    [
        ("abc\n", 4, ["abc"], None),
        ("x" * 61_004, 50_000, ["x" * 50_000], "… 11,004 of 61,004 bytes left out"),
        ("aé", 2, ["a"], "… 2 of 3 bytes left out"),
        ("a👋b", 4, ["a"], "… 5 of 6 bytes left out"),
        ("a👋b", 5, ["a👋"], "… 1 of 6 bytes left out"),
        ("\ud800b", 3, ["\\ud800"], "… 1 of 4 bytes left out"),
        ("a\x1b\nb", 3, ["a\\x1b"], "… 1 of 4 bytes left out"),
        ("abc", 0, [""], "… 3 of 3 bytes left out"),
    ],
)
def test_cut_at_bytes(text: str, limit: int, kept: list[str], rest: str | None) -> None:
    assert cut(text, Bytes(limit)) == (kept, rest)

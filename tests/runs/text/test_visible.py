"""Characters that a terminal would obey are shown, in text and in JSON."""

import json
import unicodedata

import pytest

from loopspan.runs.text.visible import visible, visible_json

WRITTEN_WITH = frozenset("\t\n\u200c\u200d")
"""Characters of these categories that texts need."""

SCRIPTS = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN", "SHORTHAND", "MUSICAL")
"""Their format characters are drawn, or only join what they stand between."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with ü and 日本 and 👩‍🔬\tand\nlines", None),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\r\nb\rc", "a\nb\\rc".replace("\\r", "\\x0d")),
        ("\x9b31m", r"\x9b31m"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
        ("hid\U000e0068\U000e0069den", r"hid\U000e0068\U000e0069den"),
        ("half \ud83d", r"half \ud83d"),
        ("\u2028", r"\u2028"),
    ],
)
def test_visible(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)


def test_every_control_and_format_character_is_visible() -> None:
    unsafe = {
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and char not in WRITTEN_WITH
        and not unicodedata.name(char, "").startswith(SCRIPTS)
    }
    assert {char for char in unsafe if visible(char) == char} == set()


@pytest.mark.parametrize("text", ["\u202e\x9b\x7f\u2028", "\U000e0041", "plain ü 日本"])
def test_json_has_the_same_value(text: str) -> None:
    written = visible_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert visible(written) == written

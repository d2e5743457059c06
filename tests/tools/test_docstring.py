"""What is read out of docstrings."""

from __future__ import annotations

import pytest

from loopspan.tools.docstring import Docstring, parse_docstring

GOOGLE = """Pick: one.

    It is
    random.

    Arguments:
        a (dict[str, int], optional): see: there
            note: deeper lines go on

            after a blank line
        *b:
            below
        c (tuple[(int, str)]): nested
        d:
        e no colon

    Raises:
        ValueError: never

    Text after a section.
    """

REST = """Pick: one.

    :meaning: is no field of Sphinx.

    :param a: the first,
        in two lines
    :param str | None b: the second: it
    :param:
    :type c: int
    :returns: nothing
    :raises ValueError: never
    """


def test_google_sections() -> None:
    assert parse_docstring(GOOGLE) == Docstring(
        "Pick: one.\n\nIt is\nrandom.",
        {
            "a": "see: there note: deeper lines go on after a blank line",
            "b": "below",
            "c": "nested",
            "d": "e no colon",
        },
    )


def test_rest_fields() -> None:
    assert parse_docstring(REST) == Docstring(
        "Pick: one.\n\n:meaning: is no field of Sphinx.",
        {"a": "the first, in two lines", "b": "the second: it"},
    )


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        (None, None),
        ("", None),
        ("  \n ", None),
        ("One line.", "One line."),
        ("Args: is a word here.", "Args: is a word here."),
        ("Args:\n    a: x", None),
        ("Look:\n    indented\nx", "Look:\n    indented\nx"),
        ("Arguments:", None),
        ("Say.\nReturns:\n    x", "Say."),
    ],
)
def test_text_before_sections(docstring: str | None, text: str | None) -> None:
    assert parse_docstring(docstring).text == text

"""Thinking inside text: split whole and piece by piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.messages import Reasoning, Text
from loopspan.providers.thinking import Splitter, inline, split

_texts = st.lists(
    st.sampled_from(["<think>", "</think>", "<thi", "</th", "ink>", "<", " ", "\n", "a", "bc"]),
    max_size=8,
).map("".join)


def contents(parts: list[Text | Reasoning]) -> list[tuple[str, str]]:
    """Kind and content of each part."""
    return [(part.type, part.content) for part in parts]


def pieced(text: str, cuts: set[int], *, stray: bool = False) -> list[Text | Reasoning]:
    """What a splitter says of a text that comes in pieces."""
    splitter = Splitter(stray=stray)
    places = sorted(c for c in cuts if c <= len(text))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    return [part for piece in pieces for part in splitter.feed(piece)] + splitter.close()


def merged(parts: list[Text | Reasoning]) -> list[tuple[str, str]]:
    """The parts, neighbours of one kind as one."""
    result: list[tuple[str, str]] = []
    for kind, content in contents(parts):
        if result and result[-1][0] == kind:
            result[-1] = (kind, result[-1][1] + content)
        else:
            result.append((kind, content))
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello", [("text", "Hello")]),
        ("\n Hello ", [("text", "\n Hello ")]),
        ("<think>\nHm.\n</think>\n\nHi", [("reasoning", "Hm."), ("text", "Hi")]),
        (" \n<think>Hm.</think>", [("reasoning", "Hm.")]),
        ("<think>\n\n</think>\n\nHi", [("text", "Hi")]),
        ("<think>Hm, cut", [("reasoning", "Hm, cut")]),
        ("<think>a <think> b</think>c", [("reasoning", "a <think> b"), ("text", "c")]),
        ("The tag <think>x</think> is", [("text", "The tag <think>x</think> is")]),
        ("Hm.</think>Hi", [("text", "Hm.</think>Hi")]),
        ("<thinking>no", [("text", "<thinking>no")]),
        ("<think>a</think>b</think>c", [("reasoning", "a"), ("text", "b</think>c")]),
    ],
)
def test_only_a_leading_tag_is_thinking(text: str, expected: list[tuple[str, str]]) -> None:
    assert contents(split(text, "x")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hm.\n</think>\n\nHi", [("reasoning", "Hm."), ("text", "Hi")]),
        ("</think>Hi", [("text", "Hi")]),
        ("Hello", [("text", "Hello")]),
        ("<think>a</think>b</think>c", [("reasoning", "a"), ("text", "b</think>c")]),
    ],
)
def test_a_stray_closing_tag_ends_thinking_where_asked(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert contents(split(text, "x", stray=True)) == expected


@given(_texts, st.sets(st.integers(0, 40), max_size=6))
def test_pieces_give_what_the_whole_gives(text: str, cuts: set[int]) -> None:
    assert merged(pieced(text, cuts)) == contents(split(text, "x"))


@given(_texts, st.sets(st.integers(0, 40), max_size=6))
def test_pieces_with_a_stray_tag_lose_no_word(text: str, cuts: set[int]) -> None:
    whole = "".join(content for _, content in contents(split(text, "x", stray=True)))
    parts = "".join(content for _, content in contents(pieced(text, cuts, stray=True)))
    assert "".join(parts.split()) == "".join(whole.split())


def test_text_is_shown_as_it_comes() -> None:
    splitter = Splitter()
    assert contents(splitter.feed("Hel")) == [("text", "Hel")]
    assert contents(splitter.feed("lo ")) == [("text", "lo ")]


def test_thinking_is_shown_as_it_comes() -> None:
    splitter = Splitter()
    assert contents(splitter.feed("<think>One")) == [("reasoning", "One")]
    assert contents(splitter.feed(" two</thi")) == [("reasoning", " two")]
    assert contents(splitter.feed("nk>\n")) == []
    assert contents(splitter.feed("\nHi")) == [("text", "Hi")]


@given(_texts, st.booleans())
def test_thinking_goes_back_as_the_model_wrote_it(text: str, stray: bool) -> None:
    parts = split(text, "x", stray=stray)
    if any(isinstance(part, Reasoning) for part in parts):
        back = [inline(p, "x") if isinstance(p, Reasoning) else p.content for p in parts]
        assert "".join(str(piece) for piece in back) == text


def test_thinking_of_another_provider_has_no_inline_form() -> None:
    (part,) = split("<think>Hm.", "x")
    assert isinstance(part, Reasoning)
    assert inline(part, "y") is None
    assert inline(Reasoning("Hm."), "x") is None

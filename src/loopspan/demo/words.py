"""Words and tokens: what a text is made of, for the model's eyes and for its bill."""

from __future__ import annotations

import re
from collections.abc import Iterator

WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TOKEN = re.compile(r"\s*(?:\w{1,5}|[^\w\s])|\s+")
_ENDINGS = ("ation", "ing", "ion", "ed", "er", "or", "e")
_SHORTEST_STEM = 3

_SAYING_NOTHING = """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can cannot can't could did do does doing don't down during each either else
    etc every few for from further had has have having he her here hers him his how i i'd i'll i'm
    i've if in into is isn't it it's its itself just let let's may me might mine more most much must
    my neither no nor not now of off on once one only onto or other our ours out over own per please
    same shall she should so some such than thank thanks that that's the their them then there
    there's these they this those through to too under until up upon us very via was we were what
    what's when where where's whether which while who whom whose why will with within without would
    yes yet you your yours
"""
STOP_WORDS = frozenset(_SAYING_NOTHING.split())
"""Words that say nothing of a subject."""

_SHARED = """
    call check create current data delete details display do execute fetch find get give info
    information list look lookup make name need new newest number program query read return set show
    tell text thing tool tools update use used value values want write
"""


def words(text: str) -> Iterator[str]:
    """Yield the words of a text or a name, in lower case: `getCurrent_time` has three."""
    for found in WORD.finditer(_HUMP.sub(" ", text)):
        yield found[0].lower().replace("\u2019", "'")


def stem(word: str) -> str:
    """Return what is left of a word without its ending, for comparison only."""
    word = word.removesuffix("'s")
    if word.endswith("ies") and len(word) > _SHORTEST_STEM + 1:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith("ss") and len(word) > _SHORTEST_STEM:
        word = word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending)
            doubled = len(word) > _SHORTEST_STEM and word[-1] == word[-2]
            # `running` and `run`, but `calling` and `call`
            return word[:-1] if doubled and word[-1] not in "lsz" else word
    return word


def subject(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    said = (word for word in words(text) if word not in STOP_WORDS and not word.isdigit())
    return frozenset(map(stem, said))


WEAK_STEMS = frozenset(map(stem, _SHARED.split()))
"""Words that many tools share: they help to choose between tools, and choose none alone."""


def count(text: str) -> int:
    """Return the tokens of a text: a word has one for each five letters, a sign is one."""
    return sum(1 for _ in _TOKEN.finditer(text))


def cut(text: str, limit: int) -> str:
    """Return the text up to this many tokens."""
    end = 0
    for number, token in enumerate(_TOKEN.finditer(text)):
        if number >= limit:
            return text[:end]
        end = token.end()
    return text

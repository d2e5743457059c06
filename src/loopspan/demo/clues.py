"""What a prompt holds that may be an argument: quotes, numbers, names, paths, the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from loopspan.demo.words import STOP_WORDS, WEAK_STEMS, WORD, stem, words

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|`([^`]+)`|(?<!\w)\'([^\']+)\'(?!\w)')
_NUMBER = re.compile(r"(?<![\w./:-])-?\d{1,15}(?:\.\d{1,15})?(?![\w/:]|[.-]\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?")
_SPECIAL = re.compile(r"[/@_\\]|\w\.\w|\d:\d")
_CAPITAL = re.compile(r"[^\W\d_]\w*(?:-\w+)*")
_ABBREVIATIONS = frozenset({"and/or", "e.g", "i.e"})
_AROUND = "([{<-+$€#~./"
"""Signs that may begin a value."""


class Clues:
    """The values in a piece of text; `known` are the stems of words that chose the tool."""

    def __init__(self, text: str, known: frozenset[str] = frozenset()) -> None:
        self.text = text
        self._known = known

    @cached_property
    def quotes(self) -> list[str]:
        """What stands in quotation marks."""
        return [next(filter(None, found.groups())) for found in _QUOTED.finditer(self.text)]

    @cached_property
    def numbers(self) -> list[int | float]:
        """The numbers, without those in quotes, dates and versions."""
        found = _NUMBER.findall(self._unquoted)
        return [float(text) if "." in text else int(text) for text in found]

    @cached_property
    def special(self) -> list[str]:
        """Words with signs in them: paths, addresses, dates, names of code."""
        found = (word.strip("()[]<>,;:!?").rstrip(".") for word in self._unquoted.split())
        return [word for word in found if self._is_special(word)]

    @cached_property
    def names(self) -> list[str]:
        """Words in capitals, neighbours together; one at the start of the text comes last."""
        found = sorted(self._named(), key=lambda named: named[0] == 0)
        return [name for _, name in found]

    @cached_property
    def dates(self) -> list[str]:
        """Dates and times of ISO 8601."""
        return _DATE.findall(self.text)

    @cached_property
    def phrase(self) -> str:
        """The text from its first word on that neither chose the tool nor says nothing."""
        for word in re.finditer(r"\w[\w'\u2019]*", self.text):
            if not self._is_known(word[0]):
                start = word.start()
                while start and self.text[start - 1] in _AROUND:
                    start -= 1
                said = self.text[start:].rstrip(" .,;:?!\n")
                return said.removesuffix(" and").removesuffix(" then").rstrip(" ,")
        return ""

    @cached_property
    def subject(self) -> str:
        """The first words of the phrase, up to one that says nothing."""
        end = 0
        for word in re.finditer(r"\w[\w'\u2019]*", self.phrase):
            if word[0].lower() in STOP_WORDS:
                break
            end = word.end()
        return self.phrase[:end]

    def mentions(self, name: str) -> bool:
        """Return whether all words of a name or value are in the text."""
        wanted = {stem(word) for word in words(name)}
        return bool(wanted) and wanted <= self._stems

    def denies(self, name: str) -> bool:
        """Return whether `no`, `not`, `without` stand before a name, or `off` after it."""
        spoken = _spoken(name)
        before = rf"\b(?:no|not|without|don't|never)\s+(?:\w+\s+)?{spoken}"
        after = rf"\b{spoken}\s*(?:[:=]|\bis\b)?\s*(?:no|off|false)\b"
        return bool(re.search(rf"{before}|{after}", self.text, re.IGNORECASE))

    def counted(self, name: str) -> int | float | None:
        """Return the number that belongs to a name: `days: 3`, `3 days`."""
        pattern = rf"({_NUMBER.pattern}) {_spoken(name)}\b"
        before = re.search(pattern, self._unquoted, re.IGNORECASE)
        found = Clues(before[1] if before else self.labelled(name) or "").numbers
        return found[0] if found else None

    def labelled(self, name: str) -> str | None:
        """Return what the text says after a name: `city: Oslo`, `city = "Oslo"`, `city Oslo`."""
        spoken = _spoken(name)
        pattern = rf"\b{spoken}\b(?P<sign>\s*[:=]|\s+is|\s+of)?\s*(?P<value>\"[^\"]+\"|[^\s,;]+)"
        said = re.search(pattern, self.text, re.IGNORECASE) if spoken else None
        if said is None:
            return None
        value = said["value"]
        if value.startswith('"'):
            return value.strip('"')
        value = value.strip("'`“”").rstrip(".?!")
        if (said["sign"] or "").strip() in (":", "="):
            return value or None
        if len(spoken) == 1 or not value:  # `a` is an article more often than a name
            return None
        known = value in self.special or value in self.quotes or _NUMBER.fullmatch(value)
        return value if known or value[0].isupper() else None

    @cached_property
    def _unquoted(self) -> str:
        """The text with blanks where quotes are."""
        return _QUOTED.sub(lambda quote: " " * len(quote[0]), self.text)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(stem, words(self.text)))

    def _named(self) -> Iterator[tuple[int, str]]:
        text = self._unquoted
        start = end = -1
        for word in _CAPITAL.finditer(text):
            if not word[0][0].isupper() or self._is_known(word[0], at=word.start()):
                continue
            if start >= 0 and text[end : word.start()] != " ":
                yield start, text[start:end]
                start = -1
            start, end = (word.start() if start < 0 else start), word.end()
        if start >= 0:
            yield start, text[start:end]

    def _is_special(self, word: str) -> bool:
        if word.lower() in _ABBREVIATIONS or _NUMBER.fullmatch(word):
            return False
        shaped = _SPECIAL.search(word) or _DATE.fullmatch(word)
        return bool(shaped) and not all(map(self._is_known, words(word)))

    def _is_known(self, word: str, at: int = 0) -> bool:
        """Return whether a word is no value; `New` within a sentence may be that of New York."""
        low = word.lower().replace("\u2019", "'")
        if low in STOP_WORDS or stem(low) in self._known:
            return True
        begins = self.text[:at].rstrip()[-1:] in ("", ".", "?", "!")
        return begins and stem(low) in WEAK_STEMS


def _spoken(name: str) -> str:
    """Return a pattern of a parameter's name as people write it."""
    return r"[ _-]?".join(WORD.findall(name))

"""Masks secrets in texts that leave the process; in JSON inside its strings, so that it parses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from loopspan.errors import ConfigurationError
from loopspan.jsontext import load
from loopspan.telemetry.rule import Rule, field_name

_NAME = re.compile(r"\w[\w .:/-]{0,63}")
_STRUCTURE = re.compile(r"\s*[\[{]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.",
    re.DOTALL,
)
_ESCAPES = ("\\u00", "\\/")
"""What may hide the hints of rules in JSON."""

_DEEPEST = 4
_AROUND = 24


class Finding(NamedTuple):
    """What a rule masks: its name, the place in the text, and what is around it, masked."""

    rule: str
    start: int
    end: int
    excerpt: str


class _Span(NamedTuple):
    start: int
    end: int
    rule: str

    @property
    def mark(self) -> str:
        return f"[redacted: {self.rule}]"


class Redaction:
    """Rules that mask secrets; a mark names the rule and shows nothing of what it stands for.

    `rules` are known shapes, unless given all of `telemetry.rules`; `patterns` further ones by
    name: a regular expression each, whose group `secret` is masked where it has one, else all of
    its match. They are searched for in every text, so they should be quick on all of them.
    """

    def __init__(
        self,
        rules: Iterable[Rule] | None = None,
        patterns: Mapping[str, str | re.Pattern[str]] | None = None,
    ) -> None:
        """Raises `ConfigurationError` for a pattern that cannot work."""
        self._known = None if rules is None else tuple(rules)
        self._own = tuple(_own_rule(name, pattern) for name, pattern in (patterns or {}).items())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """All that is searched for."""
        if self._known is not None:
            return (*self._known, *self._own)
        # Compiling them takes a while: only a program that masks something waits for it.
        from loopspan.telemetry.rules import DEFAULT_RULES

        return (*DEFAULT_RULES, *self._own)

    @cached_property
    def _fields(self) -> Mapping[str, str]:
        return {field: rule.name for rule in self.rules for field in rule.fields}

    @cached_property
    def _marks(self) -> re.Pattern[str]:
        names = "|".join(re.escape(rule.name) for rule in self.rules)
        return re.compile(rf"\[redacted: (?:{names})\]")

    def redact(self, text: str) -> str:
        """Return the text with each secret replaced by a mark; the same text where there is none.

        JSON stays JSON, also where one of its strings is JSON again.
        """
        spans = self._spans(text)
        return _masked(text, spans)[0] if spans else text

    def redact_field(self, name: str, text: str) -> str:
        """Return the text of a named value; all of it is masked where the name says secret."""
        rule = self._secret(name, text)
        return self.redact(text) if rule is None else _Span(0, len(text), rule).mark

    def may_match(self, text: str) -> bool:
        """Whether there may be a secret in a text, or in one of those it is joined from; cheap."""
        return bool(_may_match(self.rules, text))

    def preview(self, text: str) -> list[Finding]:
        """Return what each rule would mask in a text, in order."""
        spans = self._spans(text)
        masked, places = _masked(text, spans)
        found = []
        for span, at in zip(spans, places, strict=True):
            excerpt = masked[max(0, at - _AROUND) : at + len(span.mark) + _AROUND]
            found.append(Finding(span.rule, span.start, span.end, excerpt))
        return found

    def _spans(self, text: str) -> list[_Span]:
        live = _may_match(self.rules, text)
        return list(self._in_any(text, live, 0)) if live else []

    def _in_any(self, text: str, live: Sequence[Rule], depth: int) -> Iterable[_Span]:
        if depth < _DEEPEST and _STRUCTURE.match(text) and _parses(text):
            return self._in_json(text, live, depth)
        return self._in_text(text, live)

    def _in_text(self, text: str, live: Sequence[Rule]) -> list[_Span]:
        marks = [mark.span() for mark in self._marks.finditer(text)]
        merged: list[_Span] = []
        for span in sorted(_matches(text, live), key=lambda span: (span.start, -span.end)):
            if any(start <= span.start and span.end <= end for start, end in marks):
                continue  # masked before
            if merged and span.start < merged[-1].end:
                merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
            else:
                merged.append(span)
        return merged

    def _in_json(self, text: str, live: Sequence[Rule], depth: int) -> Iterator[_Span]:
        key, end = "", 0
        for string in _STRING.finditer(text):
            raw = string.group()
            value = load(raw) if "\\" in raw else raw[1:-1]
            named = text[end : string.start()].strip() == ":"
            rule = self._secret(key, value) if named else None
            if rule is not None:
                yield _Span(string.start() + 1, string.end() - 1, rule)
            elif here := _may_match(live, value):
                yield from _placed(self._in_any(value, here, depth + 1), raw, string.start())
            key, end = value, string.end()

    def _secret(self, name: str, text: str) -> str | None:
        """Return the rule by which a name says that its text is a secret."""
        if not text or self._marks.fullmatch(text):
            return None
        return self._fields.get(field_name(name))


DEFAULT_REDACTION = Redaction()
"""The rules that are known, and no others."""


def _own_rule(name: str, pattern: str | re.Pattern[str]) -> Rule:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"the name {name!r} of a redaction pattern cannot stand in a mark; use up to 64 "
            "letters, digits and spaces"
        )
    try:
        compiled: re.Pattern[str] = re.compile(pattern)
        empty = compiled.search("") is not None
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise ConfigurationError(f"the redaction pattern {name!r} is bad: {error}") from error
    if empty:
        raise ConfigurationError(
            f"the redaction pattern {name!r} matches the empty text; let it match one character"
        )
    return Rule(name, (compiled,))


def _may_match(rules: Sequence[Rule], text: str) -> Sequence[Rule]:
    if any(escape in text for escape in _ESCAPES):
        return rules
    lowered = text.lower()
    return [rule for rule in rules if rule.may_match(lowered)]


def _matches(text: str, live: Iterable[Rule]) -> Iterator[_Span]:
    for name, pattern in [(rule.name, pattern) for rule in live for pattern in rule.patterns]:
        group = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if start < end:
                yield _Span(start, end, name)


def _placed(spans: Iterable[_Span], raw: str, at: int) -> Iterator[_Span]:
    """Yield what was found in a string as it is in the JSON that holds it, `raw`, quotes too."""
    places: list[int] = []
    for start, end, rule in spans:
        if not places:
            places = [character.start() for character in _CHARACTER.finditer(raw[1:-1])]
            places.append(len(raw) - 2)
        yield _Span(at + 1 + places[start], at + 1 + places[end], rule)


def _masked(text: str, spans: Iterable[_Span]) -> tuple[str, list[int]]:
    """Return the text with a mark in place of each span, and where the marks are."""
    pieces: list[str] = []
    places: list[int] = []
    at = length = 0
    for span in spans:
        length += span.start - at
        places.append(length)
        pieces += text[at : span.start], span.mark
        length += len(span.mark)
        at = span.end
    return "".join((*pieces, text[at:])), places


def _parses(text: str) -> bool:
    try:
        load(text)
    except ValueError:
        return False
    return True

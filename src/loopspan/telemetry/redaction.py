"""Masks secrets in texts that leave the process; in JSON inside its strings, so that it parses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from loopspan.errors import ConfigurationError
from loopspan.jsontext import load
from loopspan.telemetry.rules import DEFAULT_RULES, Rule, field_name

_MARK = re.compile(r"\[redacted: [^\]]{1,64}\]")
_NAME = re.compile(r"\w[\w .:/-]{0,63}")
_STRUCTURE = re.compile(r"\s*[\[{]")
_LITERAL = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.",
    re.DOTALL,
)
_ESCAPES = ("\\u00", "\\/")
"""What may hide the hints of rules in JSON."""

_DEEPEST = 4
_AROUND = 24


class Finding(NamedTuple):
    """What a rule masks: its name, where it is in the text, and the text around it, masked."""

    rule: str
    start: int
    end: int
    excerpt: str


class _Span(NamedTuple):
    start: int
    end: int
    rule: str


class Redaction:
    """Rules that mask secrets; a mark names the rule and shows nothing of what it stands for.

    `rules` are shapes that are known, `patterns` further ones by name: a regular expression each,
    whose group `secret` is masked where it has one, else all of its match. Such a pattern is run
    on every text, so it should be quick on all of them.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = DEFAULT_RULES,
        patterns: Mapping[str, str | re.Pattern[str]] | None = None,
    ) -> None:
        """Raises `ConfigurationError` for a pattern that cannot work."""
        own = (_own_rule(name, pattern) for name, pattern in (patterns or {}).items())
        self.rules: tuple[Rule, ...] = (*rules, *own)
        self._fields = {field: rule.name for rule in self.rules for field in rule.fields}

    def redact(self, text: str) -> str:
        """Return the text with each secret replaced by a mark, the same text where there is none.

        JSON stays JSON, also where one of its strings is JSON again.
        """
        pieces: list[str] = []
        at = 0
        for start, end, rule in self._found(text):
            pieces += text[at:start], _mark(rule)
            at = end
        return "".join((*pieces, text[at:])) if pieces else text

    def redact_field(self, name: str, text: str) -> str:
        """Return the text of a named value: all of it is masked where the name says secret."""
        rule = self._fields.get(field_name(name))
        if rule is None or not text or _MARK.fullmatch(text):
            return self.redact(text)
        return _mark(rule)

    def may_match(self, text: str) -> bool:
        """Whether `redact` may change this text, or one of those that it was joined from; cheap."""
        return bool(self._live(text))

    def preview(self, text: str) -> list[Finding]:
        """Return what each rule would mask in a text, in order."""
        spans = self._found(text)
        masked, places = _masked(text, spans)
        return [
            Finding(
                rule, start, end, masked[max(0, at - _AROUND) : at + len(_mark(rule)) + _AROUND]
            )
            for (start, end, rule), at in zip(spans, places, strict=True)
        ]

    def _live(self, text: str) -> tuple[Rule, ...]:
        """Return the rules that may match."""
        if any(escape in text for escape in _ESCAPES):
            return self.rules
        lowered = text.lower()
        return tuple(rule for rule in self.rules if rule.may_match(lowered))

    def _found(self, text: str) -> list[_Span]:
        live = self._live(text)
        return list(self._in_any(text, live, 0)) if live else []

    def _in_any(self, text: str, live: Sequence[Rule], depth: int) -> Iterable[_Span]:
        if depth < _DEEPEST and _STRUCTURE.match(text) and _parses(text):
            return self._in_json(text, live, depth)
        return self._in_text(text, live)

    def _in_text(self, text: str, live: Sequence[Rule]) -> list[_Span]:
        marks = [m.span() for m in self._marks.finditer(text)]
        merged: list[_Span] = []
        for span in sorted(_matches(text, live)):
            if any(a <= span.start and span.end <= b for a, b in marks):
                continue  # masked already
            last = merged[-1] if merged else None
            if last is not None and span.start < last.end:
                merged[-1] = last._replace(end=max(last.end, span.end))
            else:
                merged.append(span)
        return merged

    def _in_json(self, text: str, live: Sequence[Rule], depth: int) -> Iterator[_Span]:
        before = _LITERAL.match('""')
        for literal in _LITERAL.finditer(text):
            raw = literal.group()
            string = load(raw) if "\\" in raw else raw[1:-1]
            yield from _Literal

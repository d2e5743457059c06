"""Which tools a prompt is about: words in common with their names and descriptions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from loopspan.demo.requests import Function
from loopspan.demo.words import WEAK_STEMS, stem, subject, words

_CLAUSE = re.compile(
    r"(?:[.?!](?=\s)|[;\n]|,?\s{1,5}(?:and|then|also)\b|,(?=\s))\s*", re.IGNORECASE
)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|`[^`]*`')
_SENTENCE = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_SHY = frozenset({"run"})
"""Verbs as often as nouns: they choose a tool where nothing else of the clause does."""


@dataclass(frozen=True, slots=True)
class Match:
    """A tool, and the part of the prompt that is about it."""

    function: Function
    text: str


@dataclass(frozen=True, slots=True)
class _Words:
    name: frozenset[str]
    description: frozenset[str]

    def score(self, asked: frozenset[str]) -> tuple[int, float]:
        """Return what the tool has in common with a prompt, and how much of its name that is."""
        named = len(self.name & asked)
        shared = 3 * named + len(self.description & asked)
        return shared, named / max(1, len(self.name))


def match(prompt: str, functions: Sequence[Function]) -> list[Match]:
    """Return the tools that a prompt is about, in the prompt's order.

    A clause is about the tools that it names; where it names none, about the one whose
    description has most words in common with it.
    """
    known = [_Words(subject(f.name), _about(f)) for f in functions]
    asked = subject(prompt)
    clauses = _clauses(prompt)
    starts: dict[int, int] = {}
    for position, clause in enumerate(clauses):
        for number in _meant(clause, asked, known):
            starts.setdefault(number, position)
    first = min(starts.values(), default=0)
    matches = []
    for number, start in starts.items():
        end = min((s for s in starts.values() if s > start), default=len(clauses))
        text = "".join(clauses[0 if start == first else start : end])
        matches.append(Match(functions[number], text.strip()))
    return matches


def _about(function: Function) -> frozenset[str]:
    """Return the subject of a description's first sentence; long ones have every word."""
    return subject(_SENTENCE.split(function.description or "", maxsplit=1)[0])


def _clauses(prompt: str) -> list[str]:
    """Return the clauses of a prompt, their separators with them; quotes are not cut."""
    quotes = [quote.span() for quote in _QUOTED.finditer(prompt)]
    ends = [
        found.end()
        for found in _CLAUSE.finditer(prompt)
        if not any(start < found.start() < end for start, end in quotes)
    ]
    edges = [0, *ends, len(prompt)]
    return [prompt[a:b] for a, b in pairwise(edges) if a < b]


def _meant(clause: str, asked: frozenset[str], known: Sequence[_Words]) -> list[int]:
    """Return the tools that a clause is about, by their numbers."""
    said = subject(clause)
    named: dict[int, bool] = {}
    for word in map(stem, words(clause)):
        candidates = [n for n, tool in enumerate(known) if word in said & _strong(tool.name)]
        if candidates:
            best = max(candidates, key=lambda n: known[n].score(asked))
            named[best] = named.get(best, False) or word not in _SHY
    if named:
        return [n for n, is_sure in named.items() if is_sure or not any(named.values())]
    described = [n for n, tool in enumerate(known) if said & tool.description - WEAK_STEMS]
    return described and [max(described, key=lambda n: known[n].score(said))]


def _strong(name: frozenset[str]) -> frozenset[str]:
    """Return the words of a name that choose it; all of them where all are weak."""
    return name - WEAK_STEMS or name

"""Thinking that a model writes into its text: `<think>…</think>` before the answer.

Only a leading tag counts, so that an answer may speak of the tag. Servers with thinking switched
off may still let it through, ending in a `</think>` that nothing opened; only an adapter of such
a server asks for that (`stray`).
"""

from __future__ import annotations

import re

from loopspan.messages import Reasoning, Text

_CLOSE = "</think>"
_OPENED = re.compile(r"\s*<think>\s*")
_MAY_OPEN = re.compile(r"\s*(<(t(h(i(n(k)?)?)?)?)?)?")


def split(text: str, provider: str, *, stray: bool = False) -> list[Text | Reasoning]:
    """Return the text, its thinking as a part of its own; no part is empty.

    The thinking keeps under the provider's name what stood around it; see `inline`.
    """
    opened = _OPENED.match(text)
    start = opened.end() if opened else 0
    end = text.find(_CLOSE, start) if opened or stray else -1
    if opened is None and end < 0:
        return [Text(text)] if text else []
    closed = end >= 0
    thought = text[start : end if closed else len(text)]
    answer = text[end + len(_CLOSE) :].lstrip() if closed else ""
    after = len(text) - len(answer)
    parts: list[Text | Reasoning] = []
    if content := thought.strip():
        first = start + thought.index(content)
        around = {"before": text[:first], "after": text[first + len(content) : after]}
        parts.append(Reasoning(content, extra={provider: around}))
    if answer:
        parts.append(Text(answer))
    return parts


def inline(part: Reasoning, provider: str) -> str | None:
    """Return thinking as this provider's model wrote it into its text, `None` where it did not."""
    own = part.own(provider)
    if "before" not in own:
        return None
    return f"{own['before']}{part.content}{own['after']}"


class Splitter:
    """Splits text that comes in pieces, for people to watch.

    Text before a stray tag has been shown as text by the time that the tag comes; `split` over
    the whole is what counts.
    """

    def __init__(self, *, stray: bool = False) -> None:
        self._kind: type[Text | Reasoning] | None = None
        self._held = ""
        self._stray = stray
        self._strip = False

    def feed(self, text: str) -> list[Text | Reasoning]:
        """Return the parts that are certain with this piece."""
        self._held += text
        parts: list[Text | Reasoning] = []
        while self._begin():
            kind = self._kind or Text
            may_close = kind is Reasoning or self._stray
            before, tag, after = self._held.partition(_CLOSE) if may_close else (self._held, "", "")
            certain = before.rstrip() if tag else _certain(before) if may_close else before
            if certain:
                parts.append(kind(certain))
            if not tag:
                self._held = before[len(certain) :]
                break
            self._kind, self._held, self._stray, self._strip = Text, after, False, True
        return parts

    def close(self) -> list[Text | Reasoning]:
        """Return what the end of the text makes certain."""
        held, self._held = self._held, ""
        kind = self._kind or Text
        held = held.rstrip() if kind is Reasoning else "" if self._strip else held
        return [kind(held)] if held else []

    def _begin(self) -> bool:
        """Find out what the held text is; false where that takes more of it."""
        if self._kind is None:
            if opened := _OPENED.match(self._held):
                self._kind, self._stray, self._strip = Reasoning, False, True
                self._held = self._held[opened.end() :]
            elif _MAY_OPEN.fullmatch(self._held):
                return False
            else:
                self._kind = Text
        if self._strip:
            self._held = self._held.lstrip()
            self._strip = not self._held
        return bool(self._held)


def _certain(text: str) -> str:
    """Return the text without an end that may turn out to stand before a closing tag."""
    cut = next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
    return text[: len(text) - cut].rstrip()

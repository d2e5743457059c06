"""The difference of two bodies, by lines or by words."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher

from loopspan.jsontext import load
from loopspan.messages import message_from_json
from loopspan.playground.bodies import Shape

MOST_PIECES = 20_000
"""The most lines or words of a body that are compared; past that the page shows the hashes."""
MOST_WORK = 40_000_000
"""The most that is compared where hardly anything is common, in pairs of pieces."""
CONTEXT = 3
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def difference(a: bytes, b: bytes, mode: str) -> Shape:
    """Return `{hunks, capped}`; a hunk is `{a: [from, to], b: [from, to], pieces}`.

    A piece is `{op, text}` with the op `=`, `-` or `+`.
    """
    left, right = _pieces(_readable(a), mode), _pieces(_readable(b), mode)
    if max(len(left), len(right)) > MOST_PIECES or len(left) * len(right) > MOST_WORK:
        return {"hunks": [], "capped": True}
    matcher = SequenceMatcher(None, left, right)
    hunks = []
    for group in matcher.get_grouped_opcodes(CONTEXT if mode == "line" else 20):
        pieces = []
        for op, i, j, k, l in group:  # noqa: E741  # as difflib names them
            if op == "equal":
                pieces.append({"op": "=", "text": _joined(left[i:j], mode)})
                continue
            if i < j:
                pieces.append({"op": "-", "text": _joined(left[i:j], mode)})
            if k < l:
                pieces.append({"op": "+", "text": _joined(right[k:l], mode)})
        first, last = group[0], group[-1]
        hunks.append({"a": [first[1], last[2]], "b": [first[3], last[4]], "pieces": pieces})
    return {"hunks": hunks, "capped": False}


def _pieces(text: str, mode: str) -> list[str]:
    return text.split("\n") if mode == "line" else _WORDS.findall(text)


def _joined(pieces: list[str], mode: str) -> str:
    return ("\n" if mode == "line" else "").join(pieces)


def _readable(body: bytes) -> str:
    """Return a body as people compare it: a message as its text, JSON with a line a value."""
    text = body.decode("utf-8", "replace")
    if text[:1] not in ("{", "["):
        return text
    try:
        value = load(body)
    except ValueError:
        return text
    if isinstance(value, dict) and isinstance(value.get("parts"), list) and "role" in value:
        parts = [part for part in value["parts"] if isinstance(part, dict)]
        return "\n".join(
            _spread(message_from_json({"role": "", "parts": [part]}).carried) for part in parts
        )
    return _indented(value)


def _spread(carried: str) -> str:
    if carried[:1] not in ("{", "["):
        return carried
    try:
        return _indented(load(carried))
    except ValueError:
        return carried


def _indented(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

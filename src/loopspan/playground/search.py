"""Searching a run: what each step added, so that nothing is found once per round."""

from __future__ import annotations

from collections.abc import Iterator

from loopspan.jsontext import dump_text
from loopspan.messages import message_from_json
from loopspan.playground.bodies import Shape
from loopspan.playground.numbers import numbers
from loopspan.runs import AssembledStep, ChatStep, RequestStep, Run, RunStep, ToolStep

MOST_HITS = 2_000
AROUND = 60
"""The characters that an excerpt shows before and after a hit."""


def search(run: Run, asked: str) -> tuple[list[Shape], int, bool]:
    """Return the hits, how often the text stands in the run, and whether that was cut off.

    Upper and lower case are the same. A hit is a field of a step with the line of its first place.
    """
    wanted = asked.lower()
    hits: list[Shape] = []
    total = 0
    for n, step in zip(numbers(run.steps), run.steps, strict=True):
        for field, text in _texts(step):
            low = text.lower()
            count = low.count(wanted)
            if count == 0:
                continue
            if len(hits) == MOST_HITS:
                return hits, total, True
            total += count
            at = low.index(wanted)
            hits.append(
                {
                    "n": n,
                    "field": field,
                    "count": count,
                    "line": low.count("\n", 0, at) + 1,
                    "excerpt": _excerpt(text, at, len(wanted)),
                }
            )
    return hits, total, False


def _texts(step: RunStep) -> Iterator[tuple[str, str]]:
    """Yield what a step added, field by field."""
    if step.error is not None:
        yield "error", f"{step.error.type} {step.error.message or ''}"
    match step:
        case RequestStep():
            yield "model", step.model or ""
            yield from _messages(step, step.new_from or 0)
        case AssembledStep():
            yield from _messages(step, 0)
        case ChatStep():
            yield "content", step.content or ""
            yield "thinking", step.thinking or ""
            for position, call in enumerate(step.tool_calls or ()):
                yield f"tool_calls[{position}]", f"{call.name} {_text(call.arguments)}"
        case ToolStep():
            yield "name", step.name
            yield "arguments", _text(step.arguments)
            yield "result", step.result or ""


def _messages(step: RequestStep | AssembledStep, first: int) -> Iterator[tuple[str, str]]:
    for position, message in enumerate(step.messages or ()):
        if position >= first:
            yield f"messages[{position}]", message_from_json(message).carried


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dump_text(value)


def _excerpt(text: str, at: int, length: int) -> str:
    start, end = max(at - AROUND, 0), at + length + AROUND
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    return f"{head}{' '.join(text[start:end].split())}{tail}"

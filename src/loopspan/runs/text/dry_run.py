"""A dry run as text: the messages with their origin, the tools, the body."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.runs import AssembledStep
from loopspan.runs.text.figures import Bytes, count
from loopspan.runs.text.lines import Body, Item, Line, unknown
from loopspan.runs.text.parts import joined, message_text
from loopspan.runs.text.visible import visible


def assembled_items(step: AssembledStep, most: int | Bytes | None) -> Iterator[Item]:
    """Yield all that a dry run put together, its texts up to this cap."""
    yield from _messages(step, most)
    yield Line()
    yield from _tools(step)
    yield Line()
    yield from _context(step)
    yield from _body(step, most)


def _messages(step: AssembledStep, most: int | Bytes | None) -> Iterator[Item]:
    parts = step.parts or ()
    yield Line("Messages", "round", note=count(len(step.messages or ()), "message"), indent=0)
    if step.messages is None:
        yield unknown(step, "messages")
    for index, message in enumerate(step.messages or ()):
        origin = joined(_provenance(part) for part in parts if part.get("message") == index)
        yield Line(origin, "note", visible(str(message.get("role") or "?")))
        yield Body(message_text(message), most, indent=4)
    for part in parts:
        if part.get("dropped") or part.get("message") is None:
            yield Line(_provenance(part), "warning", "left out")


def _tools(step: AssembledStep) -> Iterator[Line]:
    tools = step.tools or ()
    yield Line("Tools", "tool", note=count(len(tools), "tool"), indent=0)
    for tool in tools:
        described = str(tool.get("description") or "").strip().partition("\n")[0]
        yield Line(visible(str(tool.get("name"))), "call", note=visible(described))


def _context(step: AssembledStep) -> Iterator[Line]:
    use = step.context
    if use is None:
        return
    window = "its window is not known"
    if use.window is not None:
        window = f"its window is {use.window:,} by the {use.window_source}"
    facts = f"about {use.estimated_tokens:,} tokens, an estimate; {window}"
    yield Line("Context", "round", note=facts, indent=0)
    if not use.fits:
        yield Line("It does not fit, so the provider may refuse it", "warning")
    yield Line()


def _body(step: AssembledStep, most: int | Bytes | None) -> Iterator[Item]:
    yield Line("Body", "reply", note="as it would be sent", indent=0)
    if step.body is None:
        yield unknown(step, "body")
    else:
        yield Body(json.dumps(step.body, indent=2, ensure_ascii=False), most)


def _provenance(part: Mapping[str, Any]) -> str:
    """Return where a piece of the prompt comes from, and why it was left out, if it was."""
    named = " ".join(str(part[key]) for key in ("type", "id") if part.get(key))
    size = part.get("bytes")
    why = str(part.get("dropped") or "").replace("_", " ")
    return visible(joined((named, "" if size is None else f"{size:,} bytes", why)))

"""The requests of a run one after the other: their messages by reference, deltas, tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from loopspan.playground.bodies import Bodies, Shape
from loopspan.playground.context import BYTES_PER_TOKEN, context, shares
from loopspan.playground.delta import Item, changed_parameters, changed_tools, compare
from loopspan.playground.origins import Origins
from loopspan.runs import RequestStep


@dataclass(slots=True)
class Exchange:
    """One request and, once it is known, how many tokens the provider counted in it."""

    step: RequestStep
    messages: list[Shape] | None
    tools: list[Shape] | None
    base: Exchange | None
    estimated: int
    reported: int | None = None
    _refs: list[Shape] | None = field(default=None)

    @property
    def used(self) -> int | None:
        """The tokens of the request, estimated while none are reported."""
        if self.reported is None:
            return self.estimated if self.messages is not None else None
        return self.reported

    @property
    def source(self) -> str:
        return "estimated" if self.reported is None else "reported"

    def report(self, tokens: int | None) -> None:
        """Take what the provider counted."""
        self.reported, self._refs = tokens, None

    @property
    def refs(self) -> list[Shape]:
        """The `MsgRef`s of all messages, then those of the tools, with their tokens."""
        if self._refs is None:
            parts = [*(self.messages or ()), *(self.tools or ())]
            tokens = shares(self.used or 0, [part["bytes"] for part in parts])
            self._refs = [
                {**part, "tokens": count, "tokens_source": "estimated"}
                for part, count in zip(parts, tokens, strict=True)
            ]
        return self._refs

    @property
    def message_refs(self) -> list[Shape]:
        """The `MsgRef`s of the messages."""
        return self.refs[: len(self.messages or ())]

    def tool_refs(self) -> list[Shape] | None:
        """Return name, hash, bytes and tokens of each tool that was offered."""
        if self.tools is None:
            return None
        names = ("name", "h", "bytes", "tokens")
        return [{k: t[k] for k in names} for t in self.refs[len(self.messages or ()) :]]

    def context(self) -> Shape:
        """Return what the request takes of the window."""
        tools = self.tool_refs() or ()
        return context(self.step, self.message_refs, tools, self.used, self.source)

    def delta(self) -> Shape | None:
        """Return what is new beside the request before, `None` where messages are unknown."""
        if self.messages is None:
            return None
        base = self.base if self.base is not None and self.base.messages is not None else None
        before = [] if base is None or base.messages is None else base.messages
        found = compare(list(map(_item, before)), list(map(_item, self.messages)))
        refs, old_refs = self.message_refs, [] if base is None else base.message_refs
        changed = (
            changed_tools((base and base.tools) or (), self.tools or ()) if base else _NO_TOOLS
        )
        return {
            "base_round": None if base is None else base.step.round,
            "keep": [list(stretch) for stretch in found.keep],
            "add": [{"at": at, "message": refs[at]} for at in found.add],
            "edit": [{"at": j, "was": before[i]["h"], "message": refs[j]} for i, j in found.edit],
            "drop": [{"from": i, "to": i + 1, "message": old_refs[i]} for i in found.drop],
            "tools": changed,
            "parameters": {}
            if base is None
            else changed_parameters(base.step.parameters, self.step.parameters),
            "prefix_break": None
            if base is None
            else _break(before, self.messages, found.prefix, changed),
            **self._effect(base),
        }

    def _effect(self, base: Exchange | None) -> Shape:
        if self.used is None or (base is not None and base.used is None):
            return {"tokens": None, "tokens_source": None}
        before = 0 if base is None or base.used is None else base.used
        both = self.reported is not None and (base is None or base.reported is not None)
        return {
            "tokens": self.used - before,
            "tokens_source": "reported" if both else "estimated",
        }


_NO_TOOLS: dict[str, list[str]] = {"add": [], "drop": [], "changed": []}


class Exchanges:
    """All requests of a run, in order."""

    def __init__(self, bodies: Bodies, origins: Origins) -> None:
        self._bodies, self._origins = bodies, origins
        self._last: dict[str | None, Exchange] = {}
        self._ratio = BYTES_PER_TOKEN
        self._tools: dict[int, tuple[Any, list[Shape]]] = {}

    def take(self, step: RequestStep, agent: str | None) -> Exchange:
        """Return the exchange of a request; `agent` is the span that it belongs to."""
        messages = tools = None
        if step.messages is not None:
            self._origins.first(step.messages)
            messages = [self._message(each) for each in step.messages]
        if step.tools is not None:
            tools = self.tools(step.tools)
        size = sum(part["bytes"] for part in (*(messages or ()), *(tools or ())))
        found = Exchange(step, messages, tools, self._last.get(agent), round(size / self._ratio))
        self._last[agent] = found
        return found

    def answered(self, exchange: Exchange, tokens: int | None) -> None:
        """Take the count of tokens that a provider reported for a request."""
        exchange.report(tokens)
        parts = (*(exchange.messages or ()), *(exchange.tools or ()))
        size = sum(part["bytes"] for part in parts)
        if tokens and size:
            self._ratio = size / tokens

    def assembled(self, messages: Sequence[dict[str, Any]]) -> list[Shape]:
        """Return the `MsgRef`s of what a dry run put together."""
        self._origins.first(messages)
        shapes = [self._message(each) for each in messages]
        return [
            {**s, "tokens": round(s["bytes"] / self._ratio), "tokens_source": "estimated"}
            for s in shapes
        ]

    def tools(self, definitions: Sequence[dict[str, Any]]) -> list[Shape]:
        """Return the references of tool definitions; a list that is sent again is known."""
        known = self._tools.get(id(definitions))
        if known is None:
            known = self._tools[id(definitions)] = (definitions, [*map(self._tool, definitions)])
        return known[1]

    def _tool(self, definition: dict[str, Any]) -> Shape:
        ref = self._bodies.json(definition)
        return {"name": str(definition.get("name") or ""), "h": ref["h"], "bytes": ref["bytes"]}

    def _message(self, message: dict[str, Any]) -> Shape:
        shape = self._bodies.message(message)
        if "origins" not in shape:
            shape["origins"] = self._origins.of(message, shape["bytes"])
        return shape


def _item(shape: Shape) -> Item:
    return Item(shape["h"], shape["role"], shape["tool_call_id"])


def _break(
    before: Sequence[Shape], after: Sequence[Shape], prefix: int, tools: dict[str, list[str]]
) -> Shape | None:
    """Return the first position where what a provider had cached is no longer the same."""
    if any(tools.values()):
        return {"at": 0, "why": "tools changed"}
    old = [shape["h"] for shape in before if shape["role"] in ("system", "developer")]
    new = [shape["h"] for shape in after if shape["role"] in ("system", "developer")]
    if old != new[: len(old)]:
        return {"at": 0, "why": "system text changed"}
    if prefix < len(before):
        return {"at": prefix, "why": "an earlier message was edited or dropped"}
    return None

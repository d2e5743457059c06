"""The requests of a run one after the other: their messages by reference, deltas, tokens.

A dialogue is sent again in every round; what is done per round here grows with what is new in it,
but for copies of lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import Any

from loopspan.playground.bodies import Bodies, Shape
from loopspan.playground.context import BYTES_PER_TOKEN, DEFINITIONS, context, share
from loopspan.playground.delta import Compared, Item, changed_parameters, changed_tools, compare
from loopspan.playground.origins import Origins
from loopspan.runs import AssembledStep, RequestStep

_NO_TOOLS: dict[str, list[str]] = {"add": [], "drop": [], "changed": []}
_MOST_TOKENS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""How the bodies of requests call the limit of an answer."""
_bytes = itemgetter("bytes")


@dataclass
class Exchange:
    """One request and, once it is known, how many tokens the provider counted in it."""

    step: RequestStep | AssembledStep
    messages: list[Shape] | None
    tools: list[Shape] | None
    base: Exchange | None
    ratio: float
    """The bytes that a token is taken for."""
    reported: int | None = None
    parts: dict[tuple[str, str | None], int] = field(default_factory=dict)
    known: int = 0
    """How many messages at the beginning are those of the request before."""
    message_bytes: int = 0

    def __post_init__(self) -> None:
        base = self._base
        self.known = 0 if base is None else len(base.messages or ())
        # A list that begins with that of the round before has its counts, too; equal messages
        # are one and the same object, so that this costs next to nothing.
        if base is not None and (self.messages or [])[: self.known] == base.messages:
            self.parts = dict(base.parts)
            self.parts.pop(DEFINITIONS, None)
            self.message_bytes = base.message_bytes
        else:
            self.known = self.message_bytes = 0
        self._before = self.message_bytes
        for message in (self.messages or ())[self.known :]:
            self.message_bytes += message["bytes"]
            for origin in message["origins"]:
                key = (origin["type"], origin.get("id"))
                size = (origin["end"] or 0) - (origin["start"] or 0)
                self.parts[key] = self.parts.get(key, 0) + size
        if self.tools:
            self.parts[DEFINITIONS] = sum(map(_bytes, self.tools))

    @property
    def parameters(self) -> Shape:
        """The settings of the request; those of a dry run stand in its body alone."""
        return self.step.parameters if isinstance(self.step, RequestStep) else {}

    @property
    def _reserve(self) -> int:
        """The tokens that are kept for the answer."""
        body = self.step.body if isinstance(self.step, AssembledStep) else None
        told = [self.parameters.get("max_tokens"), *map((body or {}).get, _MOST_TOKENS)]
        return next((each for each in told if isinstance(each, int)), 0)

    @property
    def _base(self) -> Exchange | None:
        """The request before, where its messages are known."""
        known = self.base is not None and self.base.messages is not None
        return self.base if known else None

    @cached_property
    def bytes(self) -> int:
        """The bytes of all that was sent."""
        tools: int = sum(map(_bytes, self.tools or ()))
        return self.message_bytes + tools

    @property
    def used(self) -> int | None:
        """The tokens of the request, estimated while none are reported."""
        if self.reported is not None:
            return self.reported
        return None if self.messages is None else round(self.bytes / self.ratio)

    @property
    def source(self) -> str:
        """Where `used` comes from."""
        return "estimated" if self.reported is None else "reported"

    @property
    def answer_before(self) -> Shape | None:
        """The message that answered the request before, as this one carries it."""
        at = self.known
        if self._base is None or at == 0 or self.messages is None or len(self.messages) <= at:
            return None
        message = self.messages[at]
        return message if message["role"] == "assistant" else None

    def refs(self, positions: Iterable[int]) -> list[Shape]:
        """Return the `MsgRef`s at these positions, with their tokens."""
        messages, asked = self.messages or [], list(positions)
        if not asked:
            return []
        # Most often the last ones are asked for: what is new in this round.
        first, start = (self.known, self._before) if min(asked) >= self.known else (0, 0)
        starts = list(accumulate(map(_bytes, messages[first:]), initial=start))
        return [self._ref(messages[i], starts[i - first]) for i in asked]

    def tool_refs(self) -> list[Shape] | None:
        """Return name, hash, bytes and tokens of each tool that was offered."""
        if self.tools is None:
            return None
        at, found = self.message_bytes, []
        for tool in self.tools:
            found.append({**tool, "tokens": self._tokens(at, tool["bytes"])})
            at += tool["bytes"]
        return found

    def context(self) -> Shape:
        """Return what the request takes of the window."""
        return context(self.step.context, self._reserve, self.parts, self.used, self.source)

    def delta(self) -> Shape | None:
        """Return what is new beside the request before, `None` where messages are unknown."""
        if self.messages is None:
            return None
        base, found, tools = self._base, self._compared, self._changed_tools
        added = self.refs(found.add)
        edited = self.refs(j for _, j in found.edit)
        old = [] if base is None else base.messages or []
        dropped = [] if base is None else base.refs(found.drop)
        return {
            "base_round": None if base is None else base.step.round,
            "keep": [list(stretch) for stretch in found.keep],
            "add": [{"at": at, "message": ref} for at, ref in zip(found.add, added, strict=True)],
            "edit": [
                {"at": j, "was": old[i]["h"], "message": ref}
                for (i, j), ref in zip(found.edit, edited, strict=True)
            ],
            "drop": [
                {"from": i, "to": i + 1, "message": ref}
                for i, ref in zip(found.drop, dropped, strict=True)
            ],
            "tools": tools,
            "parameters": self._changed_parameters(),
            "prefix_break": None if base is None else _break(old, self.messages, found, tools),
            **self._effect(base),
        }

    def _ref(self, message: Shape, start: int) -> Shape:
        tokens = self._tokens(start, message["bytes"])
        return {**message, "tokens": tokens, "tokens_source": "estimated"}

    def _tokens(self, start: int, size: int) -> int:
        return share(self.used or 0, start, start + size, self.bytes)

    @cached_property
    def _compared(self) -> Compared:
        base, new = self._base, self.messages or []
        old = [] if base is None else base.messages or []
        same = self.known
        found = compare([*map(_item, old[same:])], [*map(_item, new[same:])])
        return found.moved(same) if same else found

    @cached_property
    def _changed_tools(self) -> dict[str, list[str]]:
        if self._base is None or self._base.tools is self.tools:
            return _NO_TOOLS
        return changed_tools(self._base.tools or (), self.tools or ())

    def _changed_parameters(self) -> Shape:
        if self._base is None:
            return {}
        return changed_parameters(self._base.parameters, self.parameters)

    def _effect(self, base: Exchange | None) -> Shape:
        if self.used is None or (base is not None and base.used is None):
            return {"tokens": None, "tokens_source": None}
        before = 0 if base is None or base.used is None else base.used
        both = self.reported is not None and (base is None or base.reported is not None)
        return {
            "tokens": self.used - before,
            "tokens_source": "reported" if both else "estimated",
        }


class Exchanges:
    """All requests of a run, in order."""

    def __init__(self, bodies: Bodies, origins: Origins) -> None:
        self._bodies, self._origins = bodies, origins
        self._last: dict[str | None, Exchange] = {}
        self._ratio = BYTES_PER_TOKEN
        self._tools: dict[int, tuple[Any, list[Shape]]] = {}

    def take(self, step: RequestStep | AssembledStep, agent: str | None) -> Exchange:
        """Return the exchange of a request; `agent` is the span that it belongs to."""
        messages = tools = None
        if step.messages is not None:
            self._origins.first(step.messages)
            messages = self._messages(step.messages, self._last.get(agent))
        if step.tools is not None:
            tools = self.tools(step.tools)
        found = Exchange(step, messages, tools, self._last.get(agent), self._ratio)
        self._last[agent] = found
        return found

    def answered(self, exchange: Exchange, tokens: int) -> None:
        """Take the count of tokens that a provider reported for a request."""
        exchange.reported = tokens
        if tokens and exchange.bytes:
            self._ratio = exchange.bytes / tokens

    def tools(self, definitions: Sequence[dict[str, Any]]) -> list[Shape]:
        """Return the references of tool definitions; a list that is sent again is known."""
        known = self._tools.get(id(definitions))
        if known is None:
            known = self._tools[id(definitions)] = (definitions, [*map(self._tool, definitions)])
        return known[1]

    def _tool(self, definition: dict[str, Any]) -> Shape:
        ref = self._bodies.json(definition)
        return {"name": str(definition.get("name") or ""), "h": ref["h"], "bytes": ref["bytes"]}

    def _messages(self, messages: tuple[dict[str, Any], ...], last: Exchange | None) -> list[Shape]:
        """Return the references of messages; those of the request before are known."""
        known: list[Shape] = []
        if last is not None and last.messages is not None and last.step.messages is not None:
            sent = last.step.messages
            known = last.messages if messages[: len(sent)] == sent else []
        return [*known, *map(self._message, messages[len(known) :])]

    def _message(self, message: dict[str, Any]) -> Shape:
        shape = self._bodies.message(message)
        if "origins" not in shape:
            shape["origins"] = self._origins.of(message, shape["bytes"])
        return shape


def _item(shape: Shape) -> Item:
    return Item(shape["h"], shape["role"], shape["tool_call_id"])


def _break(
    before: Sequence[Shape], after: Sequence[Shape], found: Compared, tools: dict[str, list[str]]
) -> Shape | None:
    """Return the first position where what a provider had cached is no longer the same."""
    if any(tools.values()):
        return {"at": 0, "why": "tools changed"}
    if found.prefix == len(before):
        return None
    if _system(before) != _system(after):
        return {"at": 0, "why": "system text changed"}
    return {"at": found.prefix, "why": "an earlier message was edited or dropped"}


def _system(messages: Sequence[Shape]) -> list[str]:
    return [each["h"] for each in messages if each["role"] in ("system", "developer")]

"""Tools that are never recorded: their arguments and results are taken out of every message."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from loopspan.messages import Generic, Message, Part, Reply, ToolCall, ToolCallResponse
from loopspan.telemetry import semconv as names

PLACEHOLDER: dict[str, Any] = {names.NOT_RECORDED: True}
"""What stands where arguments or a result would."""


class Unrecorded:
    """The tools of a run whose arguments and results are not recorded.

    Where there is one, only calls of tools that are known and recorded are told: a call under an
    unknown name may be meant for a tool that is not. It knows the calls of the dialogue, so that
    a result without a name of its own is found by the id of its call. False where there is none.
    """

    def __init__(self, hidden: Collection[str] = (), recorded: Collection[str] = ()) -> None:
        """`hidden` are the names of the tools that are not recorded, `recorded` all others."""
        self._hidden = frozenset(hidden)
        self._recorded = frozenset(recorded) - self._hidden
        self._called: dict[str, str] = {}
        self._words = set(self._hidden)
        """What a part of an unknown kind mentions that is a hidden call, or the result of one."""
        self._shown: dict[int, tuple[Message, Message]] = {}

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def hides(self, name: str | None) -> bool:
        """Whether arguments and results of this tool stay out."""
        return bool(self._hidden) and name not in self._recorded

    def messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages as they may be recorded: the same ones where nothing is hidden."""
        return [self._message(message) for message in messages] if self else messages

    def reply(self, reply: Reply) -> Reply:
        """Return a reply as it may be recorded."""
        if not self:
            return reply
        choices = (replace(c, message=self._message(c.message)) for c in reply.choices)
        return replace(reply, choices=tuple(choices))

    def _message(self, message: Message) -> Message:
        found = self._shown.get(id(message))
        if found is None:
            parts = tuple([self._part(part) for part in message.parts])
            results = [part for part in parts if isinstance(part, ToolCallResponse)]
            if message.role == "tool" and not any(_is_shown(part) for part in results):
                # What stands beside a hidden result, such as an image, belongs to it.
                parts = tuple([_hidden_beside(part) for part in parts])
            same = all(a is b for a, b in zip(parts, message.parts, strict=True))
            shown = message if same else replace(message, parts=parts)
            # The message is kept too: its id is its own as long as it lives.
            found = self._shown[id(message)] = (message, shown)
        return found[1]

    def _part(self, part: Part) -> Part:
        match part:
            case ToolCall():
                if part.id is not None:
                    self._called[part.id] = part.name
                if self.hides(part.name):
                    if part.id:
                        self._words.add(part.id)
                    return ToolCall(part.name, PLACEHOLDER, part.id)
            case ToolCallResponse():
                name = part.name or self._called.get(part.id or "")
                if self.hides(name):
                    return ToolCallResponse(PLACEHOLDER, part.id, part.name, part.is_error)
            case Generic():
                # A part of an unknown kind may be a call in a form of the provider's own.
                carried = part.carried
                if any(word in carried for word in self._words):
                    self._words |= _ids_of(part.body)
                    return Generic(part.type, PLACEHOLDER)
        return part


def _is_shown(part: ToolCallResponse) -> bool:
    return part.response is not PLACEHOLDER


def _hidden_beside(part: Part) -> Part:
    return part if isinstance(part, ToolCallResponse) else Generic(part.type, PLACEHOLDER)


def _ids_of(body: Any) -> set[str]:
    """Return the ids by which a later part may refer to this one."""
    found = [body.get(key) for key in ("id", "call_id")] if isinstance(body, dict) else []
    return {each for each in found if isinstance(each, str) and each}

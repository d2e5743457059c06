"""A dialogue as the model sees it: what it is asked, what it asked for, what it was told."""

from __future__ import annotations

import re
from dataclasses import dataclass

from loopspan.demo.requests import Message
from loopspan.jsontext import dump, load

_LONGEST_PROMPT = 10_000
"""The model reads no more of a prompt, in characters."""
_SYSTEM = ("system", "developer")
_BLOCK = re.compile(r"^[^\w\n]*(BEGIN|END)\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that was asked for, its arguments as text, and its result where there is one."""

    name: str
    arguments: str
    result: str | None
    is_new: bool
    """It was asked for after the user's last message."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What the model sees of a dialogue."""

    prompt: str
    """The user's last message, without the instructions that were added to it."""
    system: str
    asked: tuple[Asked, ...]

    def was_asked(self, name: str, arguments: object) -> bool:
        """Return whether this very call was asked for before."""
        known = {(call.name, _canonical(call.arguments)) for call in self.asked}
        return (name, dump(arguments)) in known

    @property
    def results(self) -> list[Asked]:
        """The calls since the user's last message that have a result."""
        return [call for call in self.asked if call.is_new and call.result is not None]


def dialogue(messages: tuple[Message, ...]) -> Dialogue:
    """Return what the model sees of these messages."""
    users = [n for n, message in enumerate(messages) if message.role == "user"]
    last = users[-1] if users else -1
    results = {m.tool_call_id: m.text for m in messages if m.role == "tool"}
    asked = tuple(
        Asked(call.function.name, call.function.arguments, results.get(call.id), number > last)
        for number, message in enumerate(messages)
        for call in message.tool_calls or ()
        if call.function is not None
    )
    system = "\n".join(message.text for message in messages if message.role in _SYSTEM)
    return Dialogue(_prompt(messages[last].text if users else ""), system, asked)


def _prompt(text: str) -> str:
    """Return the prompt of a message that may hold blocks of skills between BEGIN and END."""
    edges = [*_BLOCK.finditer(text)]
    if [edge[1] for edge in edges[:1] + edges[-1:]] == ["BEGIN", "END"]:
        text = text[edges[-1].end() :].strip() or text[: edges[0].start()]
    return text.strip()[:_LONGEST_PROMPT]


def _canonical(arguments: str) -> bytes:
    """Return arguments in the form in which the model compares them."""
    try:
        return dump(load(arguments))
    except ValueError:
        return arguments.encode("utf-8", "replace")

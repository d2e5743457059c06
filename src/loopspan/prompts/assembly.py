"""The dialogue that a run starts with, and where each piece of it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from loopspan.configuration import Configuration, RunAugmentation
from loopspan.messages import Message, system, user

Prompt: TypeAlias = str | Message | Sequence[Message]
"""What the caller asks: a text, a message, or a dialogue to go on with."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A piece of the prompt: `message` is its position in the list, `bytes` its size in UTF-8."""

    type: str
    bytes: int
    message: int | None = None
    id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what is known of the piece."""
        known = {"type": self.type, "id": self.id, "message": self.message, "bytes": self.bytes}
        return {k: v for k, v in known.items() if v is not None}


@dataclass(frozen=True, slots=True)
class Assembled:
    """The messages of round 1 and the provenance of their pieces."""

    messages: tuple[Message, ...]
    parts: tuple[PromptPart, ...]


def assemble(
    configuration: Configuration, augmentation: RunAugmentation | None, prompt: Prompt
) -> Assembled:
    """Return the dialogue that a run starts with; the inputs stay as they are."""
    messages: list[Message] = []
    parts: list[PromptPart] = []
    override = augmentation.system_prompt if augmentation else None
    text = configuration.system_prompt if override is None else override
    if text:
        kind = "system" if override is None else "override"
        parts.append(PromptPart(kind, len(text.encode("utf-8", "replace")), 0))
        messages.append(system(text))
    for message in _dialogue(prompt):
        size = len(message.text.encode("utf-8", "replace"))
        parts.append(PromptPart(message.role, size, len(messages)))
        messages.append(message)
    return Assembled(tuple(messages), tuple(parts))


def _dialogue(prompt: Prompt) -> tuple[Message, ...]:
    match prompt:
        case str():
            return (user(prompt),)
        case Message():
            return (prompt,)
        case _:
            return tuple(prompt)

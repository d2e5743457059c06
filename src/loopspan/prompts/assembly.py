"""The dialogue that a run starts with, and where each piece of it comes from.

The order is: the system prompt, the snippets (a system message each), the caller's dialogue with
the skills at the head of its first user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from loopspan.configuration import Configuration, RunAugmentation
from loopspan.messages import Message, Text, system, user
from loopspan.prompts.injection import Piece, fitting, pieces
from loopspan.prompts.library import Library
from loopspan.prompts.parts import Dropped, Origin, PromptPart, size
from loopspan.prompts.skills import Skill
from loopspan.prompts.snippets import Snippet

Prompt: TypeAlias = str | Message | Sequence[Message]
"""What the caller asks: a text, a message, or a dialogue to go on with."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The messages of round 1, the provenance of their pieces, and the tools that skills allow.

    `allowed_tools` is the union of what the skills in use declare, `None` where none declares any.
    """

    messages: tuple[Message, ...]
    parts: tuple[PromptPart, ...]
    allowed_tools: tuple[str, ...] | None = None


def assemble(
    configuration: Configuration,
    augmentation: RunAugmentation | None,
    prompt: Prompt,
    library: Library | None = None,
) -> Assembled:
    """Return the dialogue that a run starts with; the inputs stay as they are."""
    assembly = _Assembly(configuration, augmentation or RunAugmentation(), library or Library())
    return assembly.of(_dialogue(prompt))


class _Assembly:
    def __init__(
        self, configuration: Configuration, augmentation: RunAugmentation, library: Library
    ) -> None:
        self._configuration = configuration
        self._augmentation = augmentation
        self._library = library
        self._messages: list[Message] = []
        self._parts: list[PromptPart] = []
        self._left_out: list[PromptPart] = []

    def of(self, dialogue: tuple[Message, ...]) -> Assembled:
        self._system()
        for snippet in self._snippets():
            text = f"{snippet.label}:\n{snippet.text}"
            self._add(system(text), [Piece("snippet", text, snippet.identifier)])
        skills = self._skills()
        head = pieces(skills)
        if head and not any(message.role == "user" for message in dialogue):
            dialogue = (user(""), *dialogue)
        for message in dialogue:
            if message.role == "user":
                self._add(_with_head(message, head), [*head, *_own(message)])
                head = ()
            else:
                self._add(message, _own(message))
        parts = (*self._parts, *self._left_out)
        return Assembled(tuple(self._messages), parts, _allowed_tools(skills))

    def _add(self, message: Message, made_of: Iterable[Piece]) -> None:
        position, end = len(self._messages), 0
        for piece in made_of:
            start, end = end, end + size(piece.text)
            self._parts.append(PromptPart(piece.type, end - start, piece.id, position, start, end))
        self._messages.append(message)

    def _drop(self, type: Origin, id: str, why: Dropped, bytes: int = 0) -> None:
        self._left_out.append(PromptPart(type, bytes, id, dropped=why))

    def _system(self) -> None:
        override = self._augmentation.system_prompt
        text = self._configuration.system_prompt if override is None else override
        if text:
            kind: Origin = "system" if override is None else "override"
            self._add(system(text), [Piece(kind, text)])

    def _snippets(self) -> list[Snippet]:
        chosen: dict[str, Snippet] = {}
        for source in (self._configuration, self._augmentation):
            for snippet in chain(self._named_snippets(source.snippets), self._tagged(source)):
                if snippet.identifier in chosen:
                    self._drop("snippet", snippet.identifier, "duplicate", size(snippet.text))
                else:
                    chosen[snippet.identifier] = snippet
        return list(chosen.values())

    def _named_snippets(self, asked: Iterable[str]) -> Iterable[Snippet]:
        for each in asked:
            found = self._library.snippet(each)
            if found is None:
                self._drop("snippet", each, "missing")
            else:
                yield found

    def _tagged(self, source: Configuration | RunAugmentation) -> Iterable[Snippet]:
        for tag in source.snippet_tags:
            found = self._library.tagged(tag)
            if not found:
                self._drop("snippet", tag, "unknown_tag")
            yield from found

    def _skills(self) -> list[Skill]:
        usable: dict[tuple[str, str], Skill] = {}
        for each in chain(self._configuration.skills, self._augmentation.skills):
            skill = self._library.skill(each)
            if skill is None:
                self._drop("skill", each, "missing")
                continue
            key = (skill.source, skill.identifier)
            why = "duplicate" if key in usable else _refusal(skill)
            if why is None:
                usable[key] = skill
            else:
                self._drop("skill", skill.identifier, why, size(skill.body))
        skills = list(usable.values())
        kept = fitting(skills)
        for skill in skills[kept:]:
            self._drop("skill", skill.identifier, "budget", size(skill.body))
        return skills[:kept]


def _refusal(skill: Skill) -> Dropped | None:
    if not skill.enabled:
        return "disabled"
    if skill.checksum is None:
        return "unrecorded"
    return None if skill.is_verified else "checksum"


def _allowed_tools(skills: Iterable[Skill]) -> tuple[str, ...] | None:
    declared = [skill.allowed_tools for skill in skills if skill.allowed_tools is not None]
    return tuple(dict.fromkeys(chain.from_iterable(declared))) if declared else None


_ORIGINS: dict[str, Origin] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "model",
    "tool": "tool",
}


def _own(message: Message) -> list[Piece]:
    """Return what the caller's message carries as one piece; every message has one."""
    return [Piece(_ORIGINS.get(message.role, "unknown"), message.carried)]


def _with_head(message: Message, head: Sequence[Piece]) -> Message:
    if not head:
        return message
    text = "".join(piece.text for piece in head)
    match message.parts:
        case (Text() as first, *rest):
            return replace(message, parts=(replace(first, content=text + first.content), *rest))
        case parts:
            return replace(message, parts=(Text(text), *parts))


def _dialogue(prompt: Prompt) -> tuple[Message, ...]:
    match prompt:
        case str():
            return (user(prompt),)
        case Message():
            return (prompt,)
        case _:
            return tuple(prompt)

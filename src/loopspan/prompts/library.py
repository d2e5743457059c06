"""The skills and snippets that configurations and runs may name."""

from __future__ import annotations

from dataclasses import dataclass

from loopspan.prompts.skills import Skill
from loopspan.prompts.snippets import Snippet


@dataclass(frozen=True, slots=True)
class Library:
    """The skills and snippets that configurations and runs may name, in the catalogue's order."""

    skills: tuple[Skill, ...] = ()
    snippets: tuple[Snippet, ...] = ()

    def skill(self, name: str) -> Skill | None:
        """Return the skill that `identifier` or `source/identifier` names."""
        for skill in self.skills:
            if name in (skill.identifier, f"{skill.source}/{skill.identifier}"):
                return skill
        return None

    def snippet(self, identifier: str) -> Snippet | None:
        """Return the snippet of this identifier."""
        return next((s for s in self.snippets if s.identifier == identifier), None)

    def tagged(self, tag: str) -> tuple[Snippet, ...]:
        """Return the snippets that carry a tag, none where it is unknown."""
        return tuple(s for s in self.snippets if tag in s.tags)

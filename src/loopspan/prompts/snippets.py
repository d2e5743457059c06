"""Snippets: short texts that go to the model as system messages, chosen by name or by tag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Snippet:
    """A short text for the model; `name` is what it is labelled with."""

    identifier: str
    text: str
    name: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What stands before the text, in capitals."""
        return (self.name or self.identifier).upper()

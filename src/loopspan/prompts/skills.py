"""Skills: instructions in folders, injected only while they are what was recorded of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """Instructions that a configuration or a run adds to the first user message.

    `checksum` is the recorded SHA-256 of `body` in hex; a skill whose body does not match it, or
    that has none, is never used. `allowed_tools` is what its front matter declares: `None` is no
    restriction, `()` allows no tool.
    """

    identifier: str
    body: str
    name: str = ""
    description: str = ""
    source: str = "local"
    checksum: str | None = None
    enabled: bool = True
    allowed_tools: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """What the model is told that the skill is called."""
        return self.name or self.identifier

    @property
    def is_verified(self) -> bool:
        """Whether the body is what was recorded."""
        return self.checksum is not None and self.checksum.lower() == body_checksum(self.body)


def body_checksum(body: str) -> str:
    """Return the SHA-256 of a skill's body in hex."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()

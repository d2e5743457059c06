"""What is sent to the model, assembled once, every piece of it accounted for."""

from loopspan.prompts.assembly import Assembled, Prompt, assemble
from loopspan.prompts.library import Library
from loopspan.prompts.parts import PromptPart
from loopspan.prompts.skills import Skill, body_checksum
from loopspan.prompts.snippets import Snippet

__all__ = [
    "Assembled",
    "Library",
    "Prompt",
    "PromptPart",
    "Skill",
    "Snippet",
    "assemble",
    "body_checksum",
]

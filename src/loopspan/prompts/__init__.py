"""What is sent to the model, assembled once, every piece of it accounted for."""

from loopspan.prompts.assembly import Assembled, Prompt, PromptPart, assemble

__all__ = ["Assembled", "Prompt", "PromptPart", "assemble"]

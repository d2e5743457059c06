"""Spans of other instrumentations and of older conventions, read as if they were of the current."""

from loopspan.runs.foreign.current import current
from loopspan.runs.foreign.grouping import groups, is_genai

__all__ = ["current", "groups", "is_genai"]

"""Everybody who writes the dialogue."""

from tests.runs.foreign.conventions import (
    details_event,
    older_events,
    pydantic_ai,
    pydantic_ai_events,
)
from tests.runs.foreign.platforms import langfuse, openinference, openllmetry, vercel

WRITERS = (
    openinference,
    openllmetry,
    langfuse,
    pydantic_ai,
    vercel,
    pydantic_ai_events,
    older_events,
    details_event,
)

"""The settings of a request, where they are told together in one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopspan.runs.foreign.messages import parsed
from loopspan.telemetry import semconv as names

_OBJECTS = ("llm.invocation_parameters", "langfuse.observation.model.parameters")

_SETTINGS: Mapping[str, tuple[str, ...]] = {
    names.REQUEST_MODEL: ("model",),
    names.REQUEST_STREAM: ("stream",),
    names.REQUEST_TEMPERATURE: ("temperature",),
    names.REQUEST_TOP_P: ("top_p", "topP"),
    names.REQUEST_TOP_K: ("top_k", "topK"),
    names.REQUEST_MAX_TOKENS: (
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "maxOutputTokens",
        "maxTokens",
    ),
    names.REQUEST_FREQUENCY_PENALTY: ("frequency_penalty", "frequencyPenalty"),
    names.REQUEST_PRESENCE_PENALTY: ("presence_penalty", "presencePenalty"),
    names.REQUEST_STOP_SEQUENCES: ("stop", "stop_sequences", "stopSequences"),
    names.REQUEST_SEED: ("seed",),
    names.REQUEST_CHOICE_COUNT: ("n",),
    names.REQUEST_REASONING_LEVEL: ("reasoning_effort",),
}

_ELSEWHERE = frozenset(
    {"contents", "functions", "input", "instructions", "messages", "prompt", "system", "tools"}
)
"""What some write among the settings and is no setting: the reader has it from other attributes."""


def say_parameters(told: dict[str, Any]) -> None:
    """Give settings their names of the conventions; what has none stays a parameter."""
    found: dict[str, Any] = {}
    for name in _OBJECTS:
        inner = parsed(told.get(name))
        if isinstance(inner, Mapping):
            found |= {k: v for k, v in inner.items() if v is not None and k not in _ELSEWHERE}
    for name, others in _SETTINGS.items():
        values = [found.pop(other) for other in others if other in found]
        if values:
            told.setdefault(name, values[0])
    stop = told.get(names.REQUEST_STOP_SEQUENCES)
    if isinstance(stop, str):
        told[names.REQUEST_STOP_SEQUENCES] = [stop]
    if found:
        told.setdefault(names.REQUEST_PARAMETERS, found)

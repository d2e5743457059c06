"""What a provider answered: choices, token counts, cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopspan.errors import ConfigurationError
from loopspan.messages.message import Message


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as reported; `None` is unknown, never zero.

    `cache_read_input_tokens` and `cache_write_input_tokens` are parts of `input_tokens`,
    `reasoning_output_tokens` is a part of `output_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        """Input and output together, unknown where one of them is."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    @property
    def plain_input_tokens(self) -> int | None:
        """Input without the cached tokens; below zero where a provider's figures contradict."""
        if self.input_tokens is None:
            return None
        cached = (self.cache_read_input_tokens or 0) + (self.cache_write_input_tokens or 0)
        return self.input_tokens - cached

    def __add__(self, other: Usage) -> Usage:
        """Return the sum of what is known."""
        return Usage(
            _add(self.input_tokens, other.input_tokens),
            _add(self.output_tokens, other.output_tokens),
            _add(self.cache_read_input_tokens, other.cache_read_input_tokens),
            _add(self.cache_write_input_tokens, other.cache_write_input_tokens),
            _add(self.reasoning_output_tokens, other.reasoning_output_tokens),
        )


def _add(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in US dollars per million tokens; cached tokens without a price of their
    own cost what other input does."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ConfigurationError(
                    f"price {name} is {value!r}; give US dollars per million tokens"
                )

    def of(self, usage: Usage) -> float | None:
        """Return the US dollars of a usage, `None` where it is not known."""
        plain = usage.plain_input_tokens
        if plain is None or plain < 0 or usage.output_tokens is None:
            return None
        read = usage.cache_read_input_tokens or 0
        written = usage.cache_write_input_tokens or 0
        return (
            plain * self.input
            + read * (self.input if self.cache_read is None else self.cache_read)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + usage.output_tokens * self.output
        ) / 1e6


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of a reply: its message, its finish reason, and the provider's word for that."""

    message: Message
    finish_reason: str
    finish_reason_raw: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered. `choices` is never empty; the loop goes on with the first."""

    choices: tuple[Choice, ...]
    usage: Usage = Usage()
    response_id: str | None = None
    response_model: str | None = None
    cost_usd: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further facts of the answer under their attribute names (`openai.response.service_tier`)."""

    @property
    def message(self) -> Message:
        """The message of the first choice."""
        return self.choices[0].message

    @property
    def finish_reason(self) -> str:
        """The conventions' finish reason of the first choice."""
        return self.choices[0].finish_reason

    @property
    def finish_reason_raw(self) -> str | None:
        """The provider's own word of the first choice."""
        return self.choices[0].finish_reason_raw

"""What a consumer of a streamed run sees, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from loopspan.messages import Reply, ToolCall


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, as it arrives."""

    round: int
    content: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking, as it arrives."""

    round: int
    content: str


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A request is about to be sent."""

    round: int


@dataclass(frozen=True, slots=True)
class ReplyReceived:
    """The whole reply of a round."""

    round: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call starts."""

    round: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call ended; `result` is the text that the model gets."""

    round: int
    call: ToolCall
    result: str
    is_error: bool


StreamEvent: TypeAlias = (
    TextDelta | ReasoningDelta | RoundStarted | ReplyReceived | ToolStarted | ToolFinished
)

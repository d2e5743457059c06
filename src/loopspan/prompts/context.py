"""How much of a model's context window a request takes: an estimate, until a count is reported."""

from __future__ import annotations

import math
from collections.abc import Iterable

from loopspan.jsontext import dump
from loopspan.messages import ContextUse, Message, Request, ToolDefinition, Window

BYTES_PER_TOKEN = 4.0
"""What a token is worth before the provider has reported a count."""


class ContextGauge:
    """Estimates the requests of a run, whose dialogue only grows; a message is counted once."""

    def __init__(self, window: Window | None = None) -> None:
        self._window = window
        self._counted = 0
        self._bytes = 0
        self._sent = 0
        self._bytes_per_token: float | None = None

    def use(self, request: Request) -> ContextUse:
        """Return the estimate for the next request of the run."""
        new = request.messages[self._counted :]
        self._bytes += sum(_message_bytes(message) for message in new)
        self._counted = len(request.messages)
        self._sent = self._bytes + tool_bytes(request.tools)
        tokens = math.ceil(self._sent / (self._bytes_per_token or BYTES_PER_TOKEN))
        calibrated = self._bytes_per_token is not None
        return ContextUse(tokens, calibrated, request.parameters.max_tokens or 0, self._window)

    def calibrate(self, input_tokens: int | None) -> None:
        """Take what the provider has counted for that request."""
        if input_tokens:
            self._bytes_per_token = self._sent / input_tokens


def tool_bytes(tools: Iterable[ToolDefinition]) -> int:
    """Return the bytes of tool definitions."""
    return sum(tool.form("bytes", lambda t: len(dump(t.to_json()))) for tool in tools)


def _message_bytes(message: Message) -> int:
    return len(message.carried.encode("utf-8", "surrogatepass"))

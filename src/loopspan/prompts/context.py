"""How much of a model's context window a request takes: an estimate, until a count is reported."""

from __future__ import annotations

import math
from collections.abc import Iterable

from loopspan.jsontext import dump
from loopspan.messages import ContextUse, Message, Request, ToolDefinition, Window

BYTES_PER_TOKEN = 4.0
"""What a token is worth before the provider has reported a count."""


def context_use(
    request: Request, window: Window | None, bytes_per_token: float | None
) -> ContextUse:
    """Return the estimate for a request; `bytes_per_token` is what an earlier round has shown."""
    tokens = math.ceil(request_bytes(request) / (bytes_per_token or BYTES_PER_TOKEN))
    return ContextUse(
        tokens, bytes_per_token is not None, request.parameters.max_tokens or 0, window
    )


def request_bytes(request: Request) -> int:
    """Return the bytes that the messages and the tools of a request carry."""
    messages = sum(message.form("bytes", _message_bytes) for message in request.messages)
    return messages + tool_bytes(request.tools)


def tool_bytes(tools: Iterable[ToolDefinition]) -> int:
    """Return the bytes of tool definitions."""
    return sum(tool.form("bytes", lambda t: len(dump(t.to_json()))) for tool in tools)


def _message_bytes(message: Message) -> int:
    return len(message.carried.encode("utf-8", "surrogatepass"))

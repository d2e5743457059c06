"""The words that are planted, one a channel, and found again in any text."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

CONTENT = (
    "system_prompt",
    "override",
    "snippet",
    "skill",
    "user",
    "earlier_answer",
    "image",
    "image_address",
    "request_settings",
    "tool_description",
    "parameter_description",
    "tool_arguments",
    "wrong_arguments",
    "wrong_argument_name",
    "unknown_tool_arguments",
    "tool_result",
    "returned_error",
    "tool_exception",
    "tool_exception_cause",
    "inner_prompt",
    "inner_answer",
    "thinking",
    "answer",
    "provider_error",
    "stream_error",
    "broken_body",
    "broken_connection",
)
"""Channels that only `content="full"` may record."""

SECRETS = ("key", "client_header", "response_header")
"""Channels that nothing may record."""

CHANNELS = CONTENT + SECRETS


class Markers:
    """One word a channel: letters and digits, also valid base64, so that no encoding changes it."""

    def __init__(self) -> None:
        self._start = f"zq{secrets.token_hex(4)}"
        self._pattern = re.compile(rf"{self._start}(\d\d)")

    def __getitem__(self, channel: str) -> str:
        """Return the word that is planted in a channel."""
        return f"{self._start}{CHANNELS.index(channel):02d}"

    def found_in(self, text: str) -> Iterator[str]:
        """Yield the channels whose words are in a text."""
        if self._start in text:
            for number in dict.fromkeys(self._pattern.findall(text)):
                yield CHANNELS[int(number)]

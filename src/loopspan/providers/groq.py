"""Groq's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from loopspan.providers.adapter import ErrorDetail
from loopspan.providers.chat_completions import ChatCompletions


class Groq(ChatCompletions):
    """Groq."""

    name = "groq"
    provider_name = "groq"
    documentation = "https://console.groq.com/docs/api-reference#chat"
    base_url = "https://api.groq.com/openai/v1"
    key_variable = "GROQ_API_KEY"
    price_provider = "groq"

    # https://console.groq.com/docs/api-reference#chat-create: both names are known.
    other_fields: ClassVar[Mapping[str, str]] = {"max_completion_tokens": "max_tokens"}
    # https://console.groq.com/docs/vision: images, and nothing else, may be part of a message.
    media: ClassVar[frozenset[str]] = frozenset()
    # https://console.groq.com/docs/reasoning: the field of `reasoning_format: parsed`; a message
    # with a field that Groq does not know is refused.
    reasoning_fields = ("reasoning",)

    def _usage(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        # https://console.groq.com/docs/api-reference#chat-create: streams tell it here as well,
        # without being asked.
        usage = super()._usage(body)
        return usage or super()._usage(body.get("x_groq") or {})

    def read_error(self, body: Any) -> ErrorDetail | None:
        # https://console.groq.com/docs/api-reference#chat-create: why a stream was stopped early.
        detail = super().read_error(body)
        own = body.get("x_groq") if isinstance(body, Mapping) else None
        error = own.get("error") if isinstance(own, Mapping) else None
        return detail or super().read_error({"error": error})

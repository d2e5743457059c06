"""OpenAI's chat completions, and servers that speak them under another address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from loopspan.providers.chat_completions import ChatCompletions


class OpenAI(ChatCompletions):
    """OpenAI itself, Azure, DeepSeek, vLLM, llama.cpp and their like (by `base_url`)."""

    name = "openai"
    provider_name = "openai"
    documentation = "https://platform.openai.com/docs/api-reference/chat"
    base_url = "https://api.openai.com/v1"
    key_variable = "OPENAI_API_KEY"
    price_provider = "openai"

    # https://platform.openai.com/docs/api-reference/chat/create: `max_tokens` is deprecated, and
    # reasoning models refuse it.
    settings: ClassVar[Mapping[str, str]] = {
        **ChatCompletions.settings,
        "max_tokens": "max_completion_tokens",
    }
    other_fields: ClassVar[Mapping[str, str]] = {"max_tokens": "max_tokens"}

    def _details(self, body: Mapping[str, Any]) -> dict[str, Any]:
        # https://platform.openai.com/docs/api-reference/chat/object
        found = {key: body.get(key) for key in ("service_tier", "system_fingerprint")}
        return {
            f"openai.response.{key}": value
            for key, value in found.items()
            if isinstance(value, str) and value
        }

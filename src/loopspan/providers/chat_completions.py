"""The chat-completions format, which OpenAI began and many servers speak.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.jsontext import dump_text
from loopspan.messages import Choice, Reply, Usage
from loopspan.providers import chat_stream
from loopspan.providers.adapter import Delta, ErrorDetail, StreamState
from loopspan.providers.chat_requests import ChatRequests, count, number
from loopspan.secrets import Secret

_FINISH_REASONS = {
    "function_call": "tool_call",
    "model_length": "length",
    "tool_calls": "tool_call",
}


class ChatCompletions(ChatRequests):
    """The shared format; a provider overrides where it differs."""

    def headers(self, key: Secret | None) -> dict[str, str]:
        headers = {"content-type": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {key.reveal()}"
        return headers

    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        choices = tuple(self._read_reply_choice(choice) for choice in body["choices"])
        if not choices:
            raise ValueError("the answer has no choices")
        usage = self._usage(body)
        return Reply(
            choices,
            _read_usage(usage),
            _word(body.get("id")),
            _word(body.get("model")),
            self._cost(usage),
            self._details(body),
        )

    def _read_reply_choice(self, wire: Mapping[str, Any]) -> Choice:
        message = self._read_message(wire.get("message") or {}, sent=False)
        word = self._finish_reason(wire)
        reason = _FINISH_REASONS.get(word, word) if word else "error"
        if message.tool_calls and (word is None or reason == "stop"):
            reason = "tool_call"
        return Choice(message, reason, self._finish_word(wire))

    def _finish_word(self, wire: Mapping[str, Any]) -> str | None:
        """Return the provider's own word for why this choice ended."""
        return _word(wire.get("finish_reason"))

    def _finish_reason(self, wire: Mapping[str, Any]) -> str | None:
        """Return the word that tells why this choice ended."""
        return self._finish_word(wire)

    def _usage(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        usage = body.get("usage")
        return usage if isinstance(usage, Mapping) else {}

    def _cost(self, usage: Mapping[str, Any]) -> float | None:
        """Return what the server says that the answer cost, in USD."""
        return number(usage.get("cost"))

    def _details(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return further facts of an answer under their attribute names."""
        return {}

    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        yield from chat_stream.add(state, data, self.reasoning_fields)

    def is_complete(self, state: StreamState) -> bool:
        return chat_stream.is_complete(state.body)

    def read_error(self, body: Any) -> ErrorDetail | None:
        if not isinstance(body, Mapping):
            return None
        error = body if body.get("object") == "error" else body.get("error")
        if not error:
            return None
        if not isinstance(error, Mapping):
            error = {"message": error}
        message = error.get("message") or ""
        message = message if isinstance(message, str) else dump_text(message)
        code = error.get("code")
        statuses = (error.get("status_code"), error.get("raw_status_code"), code)
        return ErrorDetail(
            message,
            _word(code) or _word(error.get("type")),
            wait_told(message),
            next((s for s in statuses if isinstance(s, int) and 400 <= s < 600), None),
        )


_WAIT = re.compile(
    r"(?:try again in|retry after) ((?:\d+(?:\.\d+)?\s?[a-z]+[\s,]*)+)", re.IGNORECASE
)
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|[dhms])", re.IGNORECASE)
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def wait_told(message: str) -> float | None:
    """Return the seconds that a message says to wait: `Please try again in 9m38.016s`."""
    told = _WAIT.search(message)
    if told is None:
        return None
    amounts = _AMOUNT.findall(told[1])
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in amounts) or None


def _word(value: Any) -> str | None:
    """Return a text that says something, `None` for anything else."""
    return value if isinstance(value, str) and value else None


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the counts; those of the cache have other names on some servers.

    https://api-docs.deepseek.com/guides/kv_cache, https://docs.mistral.ai/api/endpoint/chat
    """
    prompt = _inner(usage, "prompt_tokens_details")
    completion = _inner(usage, "completion_tokens_details")
    cached = (
        prompt.get("cached_tokens"),
        usage.get("num_cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
    )
    return Usage(
        count(usage.get("prompt_tokens")),
        count(usage.get("completion_tokens")),
        next((n for raw in cached if (n := count(raw)) is not None), None),
        count(prompt.get("cache_write_tokens")),
        count(completion.get("reasoning_tokens")),
    )


def _inner(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}

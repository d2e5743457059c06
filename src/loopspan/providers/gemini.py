"""Google Gemini: https://ai.google.dev/api/generate-content"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from loopspan.jsontext import dump
from loopspan.messages import Choice, Message, Reply, Request, Usage
from loopspan.providers import gemini_stream
from loopspan.providers.adapter import Adapter, Delta, ErrorDetail, StreamState
from loopspan.providers.gemini_contents import read_answer
from loopspan.providers.gemini_parts import NAME, Ids
from loopspan.providers.gemini_request import read_body, write_body, write_url
from loopspan.secrets import Secret

# https://ai.google.dev/api/generate-content#FinishReason
_FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
        ),
        "content_filter",
    ),
    **dict.fromkeys(
        (
            "FINISH_REASON_UNSPECIFIED",
            "OTHER",
            "LANGUAGE",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
            "MALFORMED_RESPONSE",
            "NO_IMAGE",
            "IMAGE_OTHER",
        ),
        "error",
    ),
}

# Clients that ask for `enum-encoding=int` get numbers:
# https://github.com/googleapis/googleapis/blob/master/google/ai/generativelanguage/v1beta/generative_service.proto
_NUMBERS = """
FINISH_REASON_UNSPECIFIED STOP MAX_TOKENS SAFETY RECITATION OTHER LANGUAGE BLOCKLIST
PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL IMAGE_SAFETY UNEXPECTED_TOOL_CALL
""".split()  # noqa: SIM905  # as a list it would be a line a word
_WORDS = {str(number): word for number, word in enumerate(_NUMBERS)}


class Gemini(Adapter):
    """Gemini, by Google's Generative Language API."""

    name = NAME
    provider_name = "gcp.gemini"
    documentation = "https://ai.google.dev/api/generate-content"
    base_url = "https://generativelanguage.googleapis.com/v1beta"
    key_variable = "GEMINI_API_KEY"
    price_provider = "google"
    system_apart = True

    def url(self, base_url: str, request: Request) -> str:
        return write_url(base_url, request)

    def headers(self, key: Secret | None) -> dict[str, str]:
        """https://ai.google.dev/gemini-api/docs/api-key: the key never goes into the address."""
        fixed = {"content-type": "application/json"}
        return {**fixed, "x-goog-api-key": key.reveal()} if key else fixed

    def body(self, request: Request) -> dict[str, Any]:
        return write_body(request)

    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        return read_body(body, url)

    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        candidates = body.get("candidates") or ()
        ids = Ids(_place(body))
        return Reply(
            tuple(_read_choice(c, ids) for c in candidates) or (_read_blocked(body),),
            _read_usage(body.get("usageMetadata")),
            _text(body.get("responseId")),
            _text(body.get("modelVersion")),
        )

    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        return gemini_stream.take(state, data)

    def is_complete(self, state: StreamState) -> bool:
        return gemini_stream.is_complete(state.body)

    def read_error(self, body: Any) -> ErrorDetail | None:
        """https://ai.google.dev/gemini-api/docs/troubleshooting; the form is that of all of Google:
        https://cloud.google.com/apis/design/errors#error_model"""
        if isinstance(body, list) and body:
            body = body[0]  # where the answer would have come as an array
        detail = super().read_error(body)
        error = body.get("error") if isinstance(body, Mapping) else None
        if detail is None or not isinstance(error, Mapping):
            return detail
        details = [d for d in error.get("details") or () if isinstance(d, Mapping)]
        status = _count(error.get("code"))
        if any(d.get("reason") == "API_KEY_INVALID" for d in details):
            status = 401  # a wrong key is a 400 to this API
        delays = (_seconds(d.get("retryDelay")) for d in details)
        return replace(
            detail,
            code=_text(error.get("status")) or detail.code,
            status=status,
            retry_after=next((d for d in delays if d is not None), None),
        )


def _place(body: Mapping[str, Any]) -> str:
    """Return what sets this answer apart from all others of a dialogue, for ids of its calls."""
    usage = body.get("usageMetadata") or {}
    contents = [candidate.get("content") or {} for candidate in body.get("candidates") or ()]
    parts = [part for content in contents for part in content.get("parts") or ()]
    facts = [
        body.get("responseId"),  # servers that imitate the API give none, or always the same
        usage.get("promptTokenCount"),
        usage.get("candidatesTokenCount"),
        [part["functionCall"] for part in parts if "functionCall" in part],
    ]
    return f"{hashlib.sha256(dump(facts)).hexdigest()[:16]}_"


def _read_choice(candidate: Mapping[str, Any], ids: Ids) -> Choice:
    message = read_answer(candidate.get("content"), ids)
    raw = _word(candidate.get("finishReason"))
    word = _WORDS.get(raw, raw) if raw else None
    reason = _FINISH.get(word, word) if word else "error"
    if reason == "stop" and message.tool_calls:
        reason = "tool_call"
    return Choice(message, reason, raw)


def _read_blocked(body: Mapping[str, Any]) -> Choice:
    """Return the choice of an answer without candidates: the prompt was blocked.

    https://ai.google.dev/api/generate-content#PromptFeedback
    """
    feedback = body.get("promptFeedback") or {}
    raw = _word(feedback.get("blockReason"))
    if raw is None and not ("responseId" in body or "usageMetadata" in body):
        raise LookupError("the answer has neither a candidate nor the reason for having none")
    return Choice(Message("assistant", ()), "content_filter" if raw else "error", raw)


def _read_usage(usage: Any) -> Usage:
    """https://ai.google.dev/api/generate-content#UsageMetadata

    The total is the prompt, what tools of the provider's own put into it, the candidates and the
    thoughts; input and output here add up to it.
    """
    usage = usage if isinstance(usage, Mapping) else {}
    prompt, candidates, thoughts = (
        _count(usage.get(f"{name}TokenCount")) for name in ("prompt", "candidates", "thoughts")
    )
    tools = _count(usage.get("toolUsePromptTokenCount")) or 0
    written = [number for number in (candidates, thoughts) if number is not None]
    return Usage(
        input_tokens=None if prompt is None else prompt + tools,
        output_tokens=sum(written) if written else None,
        cache_read_input_tokens=_count(usage.get("cachedContentTokenCount")),
        reasoning_output_tokens=thoughts,
    )


def _seconds(duration: Any) -> float | None:
    """https://protobuf.dev/programming-guides/json/: a duration is seconds with an `s`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)s", duration) if isinstance(duration, str) else None
    return float(found[1]) if found else None


def _word(value: Any) -> str | None:
    """Return a word of an enumeration; as a number it stays one."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError(f"expected a word, got {type(value).__name__}")
    return str(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

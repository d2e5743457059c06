"""Anthropic Messages: https://platform.claude.com/docs/en/api/messages"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from loopspan.messages import Choice, Message, Reply, Request, Usage
from loopspan.providers.adapter import Adapter, Delta, ErrorDetail, StreamState
from loopspan.providers.anthropic_blocks import (
    NAME,
    is_number,
    read_parts,
    string,
    string_or_none,
)
from loopspan.providers.anthropic_request import (
    is_system,
    own_fields,
    read_choice,
    read_dialogue,
    read_settings,
    read_tool,
    write_choice,
    write_dialogue,
    write_settings,
    write_system,
    write_tool,
)
from loopspan.providers.anthropic_stream import take
from loopspan.secrets import Secret

DEFAULT_MAX_TOKENS = 4096

# https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_call",
    "refusal": "content_filter",
}

# https://platform.claude.com/docs/en/api/errors
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Anthropic(Adapter):
    """Claude, by Anthropic's own API.

    The API demands `max_tokens`: where a request has none, 4096 is sent.
    """

    name = NAME
    provider_name = "anthropic"
    documentation = "https://platform.claude.com/docs/en/api/messages"
    base_url = "https://api.anthropic.com/v1"
    key_variable = "ANTHROPIC_API_KEY"
    price_provider = "anthropic"
    system_apart = True
    # https://platform.claude.com/docs/en/api/errors#request-id
    request_id_header = "request-id"

    def url(self, base_url: str, request: Request) -> str:
        return f"{base_url.rstrip('/')}/messages"

    def headers(self, key: Secret | None) -> dict[str, str]:
        """https://platform.claude.com/docs/en/api/versioning"""
        fixed = {"anthropic-version": "2023-06-01", "content-type": "application/json"}
        return {**fixed, "x-api-key": key.reveal()} if key else fixed

    def body(self, request: Request) -> dict[str, Any]:
        leading = list(takewhile(is_system, request.messages))
        settings = request.parameters
        fields = own_fields(settings)
        body = {
            "model": request.model,
            "max_tokens": DEFAULT_MAX_TOKENS,
            "messages": write_dialogue(request.messages[len(leading) :]),
            **write_settings(settings),
        }
        if system := [b for m in leading for b in m.form((NAME, "system"), write_system)]:
            body["system"] = system
        if request.tools:
            body["tools"] = [write_tool(tool) for tool in request.tools]
            if request.tool_choice is not None:
                body["tool_choice"] = write_choice(request.tool_choice)
        else:
            # The API takes a choice only along with tools.
            fields.pop("tool_choice", None)
        if request.stream:
            body["stream"] = True
        return {**body, **fields}

    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        fields = dict(body)
        tools = tuple(read_tool(tool) for tool in fields.pop("tools", None) or ())
        choice = read_choice(fields.get("tool_choice"))
        if choice is not None and write_choice(choice) == fields["tool_choice"]:
            # What more it says (`disable_parallel_tool_use`) is a field of the provider's own.
            del fields["tool_choice"]
        return Request(
            string(fields.pop("model")),
            read_dialogue(fields.pop("system", None), fields.pop("messages")),
            tools,
            stream=fields.pop("stream", None) is True,
            parameters=read_settings(fields),
            tool_choice=choice,
        )

    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        message = Message("assistant", read_parts(body["content"]))
        raw = body.get("stop_reason")
        finish = "error" if raw is None else _FINISH.get(string(raw), raw)
        if finish == "stop" and message.tool_calls:
            finish = "tool_call"
        usage = body.get("usage")
        usage = usage if isinstance(usage, Mapping) else {}
        cost = usage.get("cost")
        return Reply(
            (Choice(message, finish, raw),),
            usage=_read_usage(usage),
            response_id=string_or_none(body.get("id")),
            response_model=string_or_none(body.get("model")),
            # https://openrouter.ai/docs/use-cases/usage-accounting: a gateway writes it
            cost_usd=float(cost) if is_number(cost) else None,
            details=_read_details(body),
        )

    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        return take(state, data)

    def is_complete(self, state: StreamState) -> bool:
        # Nothing but `message_stop` can follow the event that brings the reason.
        return state.body.get("stop_reason") is not None

    def read_error(self, body: Any) -> ErrorDetail | None:
        """Return what an error says; in a stream the same object comes as `event: error`.

        https://platform.claude.com/docs/en/api/errors
        """
        detail = super().read_error(body)
        if detail is None and isinstance(body, Mapping) and body.get("type") == "error":
            detail = ErrorDetail(string_or_none(body.get("message")) or "")
        if detail is None:
            return None
        error = body["error"] if isinstance(body.get("error"), Mapping) else {}
        kind = string_or_none(error.get("type")) or detail.code
        return replace(
            detail,
            code=kind,
            status=_STATUS.get(kind or ""),
            request_id=string_or_none(body.get("request_id")),
        )


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    """https://platform.claude.com/docs/en/build-with-claude/prompt-caching: `input_tokens` is
    what was neither read from the cache nor written to it."""
    new, read = _count(usage, "input_tokens"), _count(usage, "cache_read_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    return Usage(
        input_tokens=None if new is None else new + (read or 0) + (written or 0),
        output_tokens=_count(usage, "output_tokens"),
        cache_read_input_tokens=read,
        cache_write_input_tokens=written,
        reasoning_output_tokens=_count(usage.get("output_tokens_details"), "thinking_tokens"),
    )


def _read_details(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return which stop sequence it was, and the category of a refusal; its text is not kept."""
    why = body.get("stop_details")
    found = {
        "anthropic.response.stop_sequence": body.get("stop_sequence"),
        "anthropic.response.refusal_category": (
            why.get("category") if isinstance(why, Mapping) else None
        ),
    }
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _count(fields: Any, name: str) -> int | None:
    value = fields.get(name) if isinstance(fields, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None

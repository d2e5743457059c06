"""OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from loopspan.errors import ConfigurationError
from loopspan.messages import (
    Choice,
    Message,
    Parameters,
    Reply,
    Request,
    Text,
    ToolDefinition,
    Usage,
)
from loopspan.providers.adapter import Adapter, Delta, ErrorDetail, StreamState
from loopspan.providers.chat_completions import wait_told
from loopspan.providers.chat_requests import count, number
from loopspan.providers.openai_responses_items import read_items, read_output, write_items
from loopspan.providers.openai_responses_parts import NAME, kept, rest, text
from loopspan.providers.openai_responses_stream import take
from loopspan.secrets import Secret

_SETTINGS = {"temperature": "temperature", "top_p": "top_p", "max_output_tokens": "max_tokens"}
_UNKNOWN = ("top_k", "stop_sequences", "seed", "frequency_penalty", "presence_penalty")
"""Settings that the API has no field for."""

_REASONS = {"max_output_tokens": "length"}
_STATUS = {"server_error": 500, "rate_limit_exceeded": 429}
"""What the codes of an error inside a 200 would be as statuses.

https://platform.openai.com/docs/api-reference/responses/object#responses/object-error
"""


class OpenAIResponses(Adapter):
    """OpenAI's Responses API, and what other servers offer under `/responses`.

    Whether OpenAI stores a response is left to its default; each request holds the whole
    dialogue, thinking included, so that `extra={"store": False}` works just as well. Models whose
    thinking is then lost need `"include": ["reasoning.encrypted_content"]` beside it; others
    refuse that field, so it is not sent unasked.
    https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items,
    https://github.com/pydantic/pydantic-ai/issues/2865
    """

    name: ClassVar[str] = NAME
    provider_name: ClassVar[str] = "openai"
    documentation: ClassVar[str] = "https://platform.openai.com/docs/api-reference/responses"
    base_url: ClassVar[str] = "https://api.openai.com/v1"
    key_variable: ClassVar[str | None] = "OPENAI_API_KEY"
    price_provider: ClassVar[str | None] = "openai"
    system_apart: ClassVar[bool] = True

    def url(self, base_url: str, request: Request) -> str:
        # Azure's address has a query: https://learn.microsoft.com/azure/ai-foundry/openai/reference
        parts = urlsplit(base_url)
        path = parts.path.rstrip("/").removesuffix("/responses")
        return urlunsplit(parts._replace(path=f"{path}/responses", fragment=""))

    def headers(self, key: Secret | None) -> dict[str, str]:
        headers = {"content-type": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {key.reveal()}"
        return headers

    def body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": request.model}
        messages = request.messages
        if messages and _is_instructions(messages[0]):
            body["instructions"] = messages[0].text
            messages = messages[1:]
        if len(messages) == 1 and _is_input(messages[0]):
            body["input"] = messages[0].text
        elif messages:
            body["input"] = write_items(messages)
        if request.tools:
            body["tools"] = [_write_tool(tool) for tool in request.tools]
            if request.tool_choice is not None:
                body["tool_choice"] = _write_choice(request.tool_choice, request.tools)
        if request.stream:
            body["stream"] = True
        return body | _write_settings(request.parameters)

    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        tools = tuple(_read_tool(tool) for tool in body.get("tools") or ())
        fields = rest(body, "model", "input", "stream", *(("tools",) if tools else ()))
        messages = _read_input(body.get("input"))
        if isinstance(instructions := fields.get("instructions"), str):
            del fields["instructions"]
            messages = (Message("system", (Text(instructions),)), *messages)
        elif messages and _is_instructions(messages[0]):
            # It stood in the dialogue, and is to stand there again.
            part = Text(messages[0].text, extra=kept(item={}))
            messages = (Message("system", (part,)), *messages[1:])
        choice = _read_choice(fields.get("tool_choice"), tools) if tools else None
        if choice is not None:
            del fields["tool_choice"]
        return Request(
            text(body["model"]),
            messages,
            tools,
            _read_settings(fields),
            choice,
            stream=body.get("stream") is True,
        )

    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        message = Message("assistant", read_output(body["output"]))
        reason, raw = _finish(body, bool(message.tool_calls))
        usage = body.get("usage") or {}
        tier = text(body.get("service_tier"))
        return Reply(
            (Choice(message, reason, raw),),
            _read_usage(usage),
            response_id=text(body.get("id")) or None,
            response_model=text(body.get("model")) or None,
            # https://openrouter.ai/docs/use-cases/usage-accounting: OpenAI itself reports none.
            cost_usd=number(usage.get("cost")),
            details={
                "openai.api.type": "responses",
                **({"openai.response.service_tier": tier} if tier else {}),
            },
        )

    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        return take(state, data)

    def is_complete(self, state: StreamState) -> bool:
        return state.ended

    def read_error(self, body: Any) -> ErrorDetail | None:
        """Return the error; the event `error` has it inside or is it, depending on the server.

        https://platform.openai.com/docs/api-reference/responses-streaming/error
        """
        error = _error_in(body)
        if error is None:
            detail = super().read_error(body)
            return detail and replace(detail, retry_after=wait_told(detail.message))
        code = str(error.get("code") or error.get("type") or "")
        message = str(error.get("message") or "")
        return ErrorDetail(message, code or None, wait_told(message), _STATUS.get(code))


def _error_in(body: Any) -> Mapping[str, Any] | None:
    match body:
        case {"type": "error", "error": dict(error)}:
            return error
        case {"type": "error"}:
            return rest(body, "type")
        case {"type": "response.failed", "response": {"error": dict(error)}} if error:
            return error
        case {"object": "response", "error": dict(error)} if error:
            return error
    return None


def _is_instructions(message: Message) -> bool:
    """Whether a first message goes into `instructions`: one text, and no item of the dialogue."""
    match message:
        case Message(role="system", parts=(Text() as part,)):
            return not part.own(NAME).keys() & {"item", "part"}
    return False


def _is_input(message: Message) -> bool:
    match message:
        case Message(role="user", parts=(Text() as part,)):
            return bool(part.own(NAME).get("plain"))
    return False


def _read_input(value: Any) -> tuple[Message, ...]:
    if isinstance(value, str):
        return (Message("user", (Text(value, extra=kept(plain=True)),)),)
    return read_items(value or ())


def _write_tool(tool: ToolDefinition) -> dict[str, Any]:
    wire: dict[str, Any] = {"type": tool.type}
    # A tool that OpenAI runs has a type only, which is its name to us.
    if tool.type in ("function", "custom") or tool.name != tool.type:
        wire["name"] = tool.name
    if tool.description is not None:
        wire["description"] = tool.description
    if tool.parameters is not None:
        wire["parameters"] = tool.parameters
    return {**wire, **tool.extra.get(NAME, {})}


def _read_tool(wire: Mapping[str, Any]) -> ToolDefinition:
    kind = text(wire["type"])
    description, parameters = wire.get("description"), wire.get("parameters")
    known = {
        "description": isinstance(description, str),
        "parameters": isinstance(parameters, dict),
    }
    own = rest(wire, "type", "name", *(key for key, fits in known.items() if fits))
    return ToolDefinition(
        text(wire.get("name")) or kind,
        description if known["description"] else None,
        parameters if known["parameters"] else None,
        kind,
        {NAME: own} if own else {},
    )


def _write_choice(choice: str, tools: tuple[ToolDefinition, ...]) -> str | dict[str, str]:
    """https://platform.openai.com/docs/api-reference/responses/create#responses-create-tool_choice"""
    if choice in ("auto", "required", "none"):
        return choice
    kind = next((tool.type for tool in tools if tool.name == choice), "function")
    if kind in ("function", "custom"):
        return {"type": kind, "name": choice}
    return {"type": kind}


def _read_choice(choice: Any, tools: tuple[ToolDefinition, ...]) -> str | None:
    """Return the word or the tool's name, `None` where that would not say the same."""
    match choice:
        case str(word) | {"name": str(word)} | {"type": str(word)}:
            return word if _write_choice(word, tools) == choice else None
    return None


def _write_settings(settings: Parameters) -> dict[str, Any]:
    """Return the settings as fields; `extra` wins, its `reasoning` field by field."""
    refused = dict.fromkeys(_UNKNOWN) | {"choice_count": 1}
    for name, needless in refused.items():
        if (value := getattr(settings, name)) not in (None, needless):
            raise ConfigurationError(
                f"{NAME} has no such setting, and {name} is {value!r}; take it out, or use the "
                "chat completions of `openai`"
            )
    fields = {key: getattr(settings, name) for key, name in _SETTINGS.items()}
    fields = {key: value for key, value in fields.items() if value is not None}
    extra = dict(settings.extra)
    if settings.reasoning_level is not None:
        others = extra.get("reasoning")
        others = others if isinstance(others, Mapping) else {}
        extra["reasoning"] = {"effort": settings.reasoning_level, **others}
    return fields | extra


def _read_settings(fields: dict[str, Any]) -> Parameters:
    known: dict[str, Any] = {
        name: fields.pop(key)
        for key, name in _SETTINGS.items()
        if number(fields.get(key)) is not None
    }
    match fields.get("reasoning"):
        case {"effort": str(effort), **others}:
            known["reasoning_level"] = effort
            fields["reasoning"] = others
            if not others:
                del fields["reasoning"]
    return Parameters(**known, extra=fields)


def _finish(body: Mapping[str, Any], calls: bool) -> tuple[str, str | None]:
    """Return the finish reason, and the status with the reason why it is incomplete."""
    status = text(body.get("status"))
    reason = text((body.get("incomplete_details") or {}).get("reason"))
    match status:
        case "completed":
            return "tool_call" if calls else "stop", status
        case "incomplete" if reason:
            return _REASONS.get(reason, reason), f"{status}/{reason}"
        case "" | "failed" | "cancelled" | "in_progress" | "queued":
            return "error", status or None
    return status, status


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    read = usage.get("input_tokens_details") or {}
    written = usage.get("output_tokens_details") or {}
    counts = (
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        read.get("cached_tokens"),
        read.get("cache_write_tokens"),
        written.get("reasoning_tokens"),
    )
    return Usage(*map(count, counts))

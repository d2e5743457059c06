"""Ollama's own API: https://docs.ollama.com/api/chat."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from loopspan.errors import ConfigurationError
from loopspan.jsontext import dump
from loopspan.messages import Choice, Message, Parameters, Reasoning, Reply, Request, Usage
from loopspan.providers.adapter import Adapter, Delta, StreamState
from loopspan.providers.chat_requests import count, number
from loopspan.providers.framing import Framing
from loopspan.providers.ollama_messages import (
    NAME,
    read_messages,
    read_parts,
    read_tool,
    text,
    tool_wire,
    wires,
)
from loopspan.providers.thinking import Splitter
from loopspan.secrets import Secret

# https://docs.ollama.com/modelfile#valid-parameters-and-values
_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "num_predict": "max_tokens",
    "stop": "stop_sequences",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
}


class Ollama(Adapter):
    """Ollama's chat, as its server gives it on this machine, on another, or on ollama.com."""

    name: ClassVar[str] = NAME
    provider_name: ClassVar[str] = "ollama"
    documentation: ClassVar[str] = "https://docs.ollama.com/api/chat"
    base_url: ClassVar[str] = "http://127.0.0.1:11434"
    framing: ClassVar[Framing] = "ndjson"  # https://docs.ollama.com/api/streaming

    def address(self, variable: Callable[[str], str | None]) -> str:
        """Return where `OLLAMA_HOST` says that the server is: an address to bind to, or a URL.

        https://docs.ollama.com/faq#how-do-i-configure-ollama-server
        """
        given = (variable("OLLAMA_HOST") or "").strip().rstrip("/")
        return _address(given) if given else self.base_url

    def url(self, base_url: str, request: Request) -> str:
        return f"{base_url.rstrip('/')}/api/chat"

    def headers(self, key: Secret | None) -> dict[str, str]:
        headers = {"content-type": "application/json"}
        if key:  # only ollama.com asks for one: https://docs.ollama.com/api/authentication
            headers["authorization"] = f"Bearer {key.reveal()}"
        return headers

    def body(self, request: Request) -> dict[str, Any]:
        if request.tool_choice not in (None, "auto", "none"):
            raise ConfigurationError(
                f"ollama cannot be told to call a tool: tool_choice is {request.tool_choice!r}; "
                "use 'auto' or 'none'"
            )
        body: dict[str, Any] = {"model": request.model, "messages": wires(request.messages)}
        if request.tools and request.tool_choice != "none":
            body["tools"] = [tool_wire(tool) for tool in request.tools]
        # The server streams where nothing is said: https://docs.ollama.com/api/streaming
        body["stream"] = request.stream
        return body | _settings(request.parameters)

    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        stream = body.get("stream")
        return Request(
            text(body["model"]),
            read_messages(body.get("messages") or ()),
            tuple(read_tool(tool) for tool in body.get("tools") or ()),
            _read_settings(body),
            stream=True if stream is None else bool(stream),
        )

    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        wire = body["message"]
        # What sets this answer apart from all others of the dialogue, for ids of its calls.
        facts = [wire.get("content"), *(body.get(k) for k in ("created_at", *_COUNTS))]
        place = hashlib.sha256(dump(facts)).hexdigest()[:16]
        message = Message("assistant", read_parts({**wire, "role": "assistant"}, place))
        word = text(body.get("done_reason")) or None
        ended = "tool_call" if word == "stop" and message.tool_calls else word or "error"
        return Reply(
            (Choice(message, ended, word),),
            Usage(
                count(body.get("prompt_eval_count")),
                count(body.get("eval_count")),
                count(body.get("prompt_eval_cached_count")),
            ),
            response_model=text(body.get("model")) or None,
        )

    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        piece = data.get("message") or {}
        whole: dict[str, Any] = state.body.get("message", {})
        for field, value in piece.items():
            if field in _JOINED and whole.get(field) and value:
                whole[field] += value
            elif value or field not in whole:
                whole[field] = value
        state.body |= {**data, "message": whole}
        thoughts = [text(piece.get(field)) for field in ("thinking", "reasoning")]
        yield from (Reasoning(thought) for thought in thoughts if thought)
        splitter: Splitter = state.scratch.setdefault("splitter", Splitter(stray=not any(thoughts)))
        yield from splitter.feed(text(piece.get("content")))
        if self.is_complete(state):
            yield from splitter.close()

    def is_complete(self, state: StreamState) -> bool:
        return state.body.get("done") is True


def _address(given: str) -> str:
    scheme, _, rest = given.rpartition("://")
    try:
        parts = urlsplit(f"//{rest}")
        port = parts.port or (None if scheme else 11434)
    except ValueError:
        raise ConfigurationError(
            f"OLLAMA_HOST is {given!r}; give it as 'host:port' or 'http://host:port'"
        ) from None
    host = parts.hostname or "127.0.0.1"
    # To a server these mean all addresses of its machine; a client cannot call them everywhere.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # replaced, not bound
    host = f"[{host}]" if ":" in host else host
    return f"{scheme or 'http'}://{host}{f':{port}' if port else ''}{parts.path}"


_JOINED = ("content", "thinking", "reasoning", "tool_calls", "images")
_COUNTS = ("total_duration", "eval_duration", "eval_count", "prompt_eval_count")


def _settings(parameters: Parameters) -> dict[str, Any]:
    """Return the settings as fields of the body; `extra` wins, its `options` one by one."""
    if parameters.choice_count not in (None, 1):
        raise ConfigurationError(
            f"ollama gives one answer a request, and choice_count is {parameters.choice_count!r}; "
            "take it out"
        )
    options = {
        option: list(value) if isinstance(value, tuple) else value
        for option, field in _OPTIONS.items()
        if (value := getattr(parameters, field)) is not None
    }
    extra = dict(parameters.extra)
    fields: dict[str, Any] = {"options": options} if options else {}
    if isinstance(own := extra.get("options"), Mapping):
        extra["options"] = {**options, **own}
    if (level := parameters.reasoning_level) is not None:
        # https://docs.ollama.com/capabilities/thinking: levels, or false for none at all
        fields["think"] = False if level == "none" else level
    return fields | extra


def _read_settings(body: Mapping[str, Any]) -> Parameters:
    named = ("model", "messages", "stream")
    extra = {k: v for k, v in body.items() if k not in named and not (k == "tools" and v)}
    known: dict[str, Any] = {}
    if isinstance(options := extra.get("options"), dict):
        for option, field in _OPTIONS.items():
            if (value := _setting(option, options.get(option))) is not None:
                known[field] = value
        extra["options"] = {k: v for k, v in options.items() if _OPTIONS.get(k) not in known}
        if known and not extra["options"]:
            del extra["options"]
    think = extra.get("think")
    if think is False or (isinstance(think, str) and think):
        known["reasoning_level"] = extra.pop("think") or "none"
    return Parameters(**known, extra=extra)


def _setting(option: str, value: Any) -> Any:
    """Return the value of an option under our name for it, `None` where that has none like it."""
    if option == "stop":
        words = isinstance(value, list) and all(isinstance(word, str) for word in value)
        return tuple(value) if words else None
    # Below zero it is no limit but a word for one: -1 is endless, -2 is what the context holds.
    return count(value) if option == "num_predict" else number(value)

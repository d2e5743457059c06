"""Requests of the chat-completions format, in both directions.

A field that has no name of ours, or a form that writing it would not give again, is kept in
`Parameters.extra` and goes back as it came.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from loopspan.messages import Parameters, Request, ToolChoice, ToolDefinition
from loopspan.providers.chat_messages import ChatMessages

_PATH = "/chat/completions"
_CHOICES = ("auto", "required", "none")
_ONLY_WITH_TOOLS = ("tool_choice", "parallel_tool_calls")


class ChatRequests(ChatMessages):
    """Where a request goes and what it looks like."""

    settings: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "max_tokens": "max_tokens",
        "stop_sequences": "stop",
        "seed": "seed",
        "frequency_penalty": "frequency_penalty",
        "presence_penalty": "presence_penalty",
        "choice_count": "n",
        "reasoning_level": "reasoning_effort",
    }
    """The field of each setting."""
    other_fields: ClassVar[Mapping[str, str]] = {}
    """Further fields that are read as a setting, and not written."""
    required_choice: ClassVar[str] = "required"
    """The tool choice that means that some tool must be called."""
    takes_stream_options: ClassVar[bool] = True
    """Whether `stream_options` may be sent; without it no usage comes in a stream."""

    def url(self, base_url: str, request: Request) -> str:
        parts = urlsplit(base_url)
        path = parts.path.rstrip("/")
        path = path if path.endswith(_PATH) else path + _PATH
        return urlunsplit(parts._replace(path=path, fragment=""))

    def body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": request.model, "messages": self._write_messages(request)}
        if request.tools:
            body["tools"] = [self._write_tool(tool) for tool in request.tools]
            if request.tool_choice is not None:
                body["tool_choice"] = self._write_choice(request)
        body |= self._write_settings(request.parameters)
        if request.stream:
            body["stream"] = True
            if self.takes_stream_options:
                options = request.parameters.extra.get("stream_options")
                body["stream_options"] = {"include_usage": True, **(options or {})}
        # Refused without tools and without a stream, and settings last longer than either.
        dropped = {*(() if request.tools else _ONLY_WITH_TOOLS), "stream_options"}
        return body | {k: v for k, v in request.parameters.extra.items() if k not in dropped}

    def _write_messages(self, request: Request) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = []
        legacy = False
        for message in request.messages:
            for wire in message.form((self.name, "wire"), self._write_message):
                if wire["role"] == "assistant":
                    legacy = "function_call" in wire
                if legacy and wire["role"] == "tool" and "tool_call_id" not in wire:
                    result.append({**wire, "role": "function"})
                else:
                    result.append(wire)
        return result

    def _write_tool(self, tool: ToolDefinition) -> dict[str, Any]:
        own = tool.extra.get(self.name, {})
        definition: dict[str, Any] = {"name": tool.name}
        if tool.description is not None:
            definition["description"] = tool.description
        if tool.parameters is not None:
            definition["parameters"] = tool.parameters
        if tool.type in ("function", "custom"):
            definition = {**definition, **own.get(tool.type, {})}
            rest = {k: v for k, v in own.items() if k != tool.type}
            return {"type": tool.type, tool.type: definition, **rest}
        if tool.name == tool.type:  # run by the provider, which knows it by its type
            del definition["name"]
        return {"type": tool.type, **definition, **own}

    def _write_choice(self, request: Request) -> Any:
        name = request.tool_choice
        if name in _CHOICES:
            return self.required_choice if name == "required" else name
        kind = next((t.type for t in request.tools if t.name == name), "function")
        kind = kind if kind == "custom" else "function"
        return {"type": kind, kind: {"name": name}}

    def _write_settings(self, parameters: Parameters) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, field in self.settings.items():
            value = getattr(parameters, name)
            if value is not None and parameters.extra.keys().isdisjoint(self._fields(name)):
                result[field] = self._write_setting(name, value)
        return result

    def _write_setting(self, name: str, value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value

    def _fields(self, name: str) -> list[str]:
        """Return all fields that hold this setting, the one that is written first."""
        others = [field for field, setting in self.other_fields.items() if setting == name]
        return [self.settings[name], *others]

    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        messages = tuple(self._read_message(m, sent=True) for m in body["messages"])
        tools = tuple(self._read_tool(tool) for tool in body.get("tools") or ())
        known = {"model", "messages", "tools", "stream", "stream_options"}
        extra: dict[str, Any] = {}
        settings = self._read_settings(body, known, extra)
        choice = self._read_choice(body.get("tool_choice"))
        if tools and choice is not None:
            request = Request("", (), tools, tool_choice=choice)
            if self._write_choice(request) == body["tool_choice"]:
                known.add("tool_choice")
        else:
            choice = None
        options = body.get("stream_options")
        options = options if isinstance(options, Mapping) else {}
        if rest := {k: v for k, v in options.items() if (k, v) != ("include_usage", True)}:
            extra["stream_options"] = rest
        extra |= {k: v for k, v in body.items() if k not in known}
        return Request(
            _model(body, url),
            messages,
            tools,
            Parameters(**settings, extra=extra),
            choice,
            stream=body.get("stream") is True,
        )

    def _read_settings(
        self, body: Mapping[str, Any], known: set[str], extra: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the settings; what writing them would not give again is kept in `extra` too."""
        settings: dict[str, Any] = {}
        for name, field in self.settings.items():
            found = {f: body[f] for f in self._fields(name) if f in body}
            values = [
                v for raw in found.values() if (v := self._read_setting(name, raw)) is not None
            ]
            if values:
                settings[name] = values[0]
            exact = bool(values) and found == {field: self._write_setting(name, values[0])}
            known.update(found)
            if not exact:
                extra |= found
        return settings

    def _read_setting(self, name: str, raw: Any) -> Any:
        """Return the value of a setting, `None` where it is of no form that we know."""
        match name:
            case "stop_sequences":
                texts = [raw] if isinstance(raw, str) else raw
                ok = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
                return tuple(texts) if ok else None
            case "reasoning_level":
                return raw if isinstance(raw, str) else None
            case "temperature" | "top_p" | "frequency_penalty" | "presence_penalty":
                return number(raw)
        return count(raw)

    def _read_tool(self, wire: Mapping[str, Any]) -> ToolDefinition:
        kind = str(wire.get("type") or "function")
        inner = kind in ("function", "custom")
        definition = wire[kind] if inner else wire
        rest = {k: v for k, v in definition.items() if not (k == "type" and not inner)}
        name = rest.pop("name") if inner else rest.pop("name", kind)
        description = rest.pop("description") if isinstance(rest.get("description"), str) else None
        schema = rest.pop("parameters") if isinstance(rest.get("parameters"), dict) else None
        own = {k: v for k, v in wire.items() if k not in ("type", kind)} if inner else rest
        if inner and rest:
            own[kind] = rest
        extra = {self.name: own} if own else {}
        return ToolDefinition(str(name), description, schema, kind, extra=extra)

    def _read_choice(self, raw: Any) -> ToolChoice | None:
        match raw:
            case str() if raw in _CHOICES:
                return raw
            case str() if raw == self.required_choice:
                return "required"
            case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
                return None if name in _CHOICES else name
        return None


def _model(body: Mapping[str, Any], url: str) -> str:
    """Return the model; Azure names it in the address alone."""
    if isinstance(name := body.get("model"), str):
        return name
    deployment = re.search(r"/deployments/([^/]+)/", urlsplit(url).path)
    if deployment is None:
        raise ValueError("no model is named")
    return deployment[1]


def count(value: Any) -> int | None:
    """Return a count, `None` where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: Any) -> float | None:
    """Return a number, `None` where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None

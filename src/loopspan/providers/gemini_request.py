"""Requests to Gemini in both directions: https://ai.google.dev/api/generate-content"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from loopspan.messages import Message, Parameters, Request, ToolChoice, ToolDefinition
from loopspan.providers.gemini_contents import (
    read_contents,
    read_parts,
    write_contents,
    write_system,
)
from loopspan.providers.gemini_parts import NAME, UNDER, Ids, Wire, spelled

_STREAM = "streamGenerateContent"
_ADDRESS = re.compile(rf"([^/]+/[^/:]+):(generateContent|{_STREAM})$")

# https://ai.google.dev/api/generate-content#generationconfig
_SETTINGS = {
    "temperature": ("temperature", (int, float)),
    "topP": ("top_p", (int, float)),
    "topK": ("top_k", (int,)),
    "maxOutputTokens": ("max_tokens", (int,)),
    "stopSequences": ("stop_sequences", (list,)),
    "seed": ("seed", (int,)),
    "frequencyPenalty": ("frequency_penalty", (int, float)),
    "presencePenalty": ("presence_penalty", (int, float)),
    "candidateCount": ("choice_count", (int,)),
}

# https://ai.google.dev/api/caching#FunctionCallingConfig
_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


def write_url(base_url: str, request: Request) -> str:
    """Return the address; a model with a slash in its name (`tunedModels/…`) is a path itself."""
    model = request.model if "/" in request.model else f"models/{request.model}"
    method = f"{_STREAM}?alt=sse" if request.stream else "generateContent"
    return f"{base_url.rstrip('/')}/{quote(model)}:{method}"


def write_body(request: Request) -> Wire:
    """Return the body of a request."""
    extra = dict(request.parameters.extra)
    body: Wire = {"contents": write_contents(request.messages)}
    if system := write_system(request.messages):
        body["systemInstruction"] = {"parts": system}
    elif set(extra.get("systemInstruction") or ()) == {"role"}:
        del extra["systemInstruction"]
    if settings := _write_settings(request.parameters):
        body["generationConfig"] = settings
    if request.tools:
        body["tools"] = _write_tools(request.tools)
    else:
        # The API takes a choice only along with tools.
        extra.pop("toolConfig", None)
    if request.tool_choice is not None and any(t.type == "function" for t in request.tools):
        body["toolConfig"] = {"functionCallingConfig": _write_choice(request.tool_choice)}
    return _merged(body, extra)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Wire:
    """Return the base with the fields of `over` put over it, object by object."""
    result = dict(base)
    for name, value in over.items():
        known = result.get(name)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            value = _merged(known, value)
        result[name] = value
    return result


def _write_settings(parameters: Parameters) -> Wire:
    settings: Wire = {}
    for field, (name, _) in _SETTINGS.items():
        value = getattr(parameters, name)
        if value is not None:
            settings[field] = list(value) if isinstance(value, tuple) else value
    if parameters.reasoning_level is not None:
        # https://ai.google.dev/gemini-api/docs/thinking#thinking-levels
        settings["thinkingConfig"] = {"thinkingLevel": parameters.reasoning_level}
    return settings


def _write_tools(tools: Iterable[ToolDefinition]) -> list[Wire]:
    entries: list[Wire] = []
    functions: list[Wire] = []
    for tool in tools:
        if tool.type != "function":
            entries.append({tool.type: tool.extra.get(NAME, {}).get(tool.type, {})})
            continue
        if not functions:
            entries.append({"functionDeclarations": functions})
        functions.append(_write_function(tool))
    return entries


def _write_function(tool: ToolDefinition) -> Wire:
    own = dict(tool.extra.get(NAME, {}))
    # `parametersJsonSchema` takes JSON Schema; `parameters` takes a subset of OpenAPI's, without
    # `$defs`, `$ref` and `additionalProperties`, and refuses an object without properties.
    # https://ai.google.dev/api/caching#FunctionDeclaration
    field = own.pop(UNDER, "parametersJsonSchema")
    function: Wire = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function[field] = tool.parameters
    return {**function, **own}


def _write_choice(choice: ToolChoice) -> Wire:
    if choice in _MODES:
        return {"mode": _MODES[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}


def read_body(body: Mapping[str, Any], url: str) -> Request:
    """Return what a body and its address asked for; what we have no name for goes to `extra`.

    The address may hold a key; nothing of its query is read.
    """
    extra = spelled(body)
    contents = extra.pop("contents")
    if not isinstance(contents, list):
        raise TypeError("contents must be a list")
    system = _read_system(extra)
    settings = _read_settings(extra)
    tools = tuple(_read_tools(extra.pop("tools", ())))
    choice = _read_choice(extra) if any(t.type == "function" for t in tools) else None
    address = _ADDRESS.search(urlsplit(url).path)
    model = unquote(address[1]) if address else extra.get("model", "")
    return Request(
        model.removeprefix("models/"),
        (*system, *read_contents(contents)),
        tools,
        Parameters(**settings, extra=extra),
        choice,
        stream=address is not None and address[2] == _STREAM,
    )


def _put_back(extra: Wire, name: str, rest: Wire, taken: object) -> None:
    """Keep what is left of an object; one that was empty is kept as it was."""
    if rest or not taken:
        extra[name] = rest


def _read_system(extra: Wire) -> tuple[Message, ...]:
    if "systemInstruction" not in extra:
        return ()
    rest = spelled(extra.pop("systemInstruction"))
    parts = read_parts(rest, Ids())
    if parts:
        del rest["parts"]
    _put_back(extra, "systemInstruction", rest, parts)
    return (Message("system", parts),) if parts else ()


def _read_settings(extra: Wire) -> dict[str, Any]:
    if "generationConfig" not in extra:
        return {}
    rest = spelled(extra.pop("generationConfig"))
    known: dict[str, Any] = {}
    for field, (name, types) in _SETTINGS.items():
        if type(rest.get(field)) in types:
            known[name] = rest.pop(field)
    if (words := known.get("stop_sequences")) is not None:
        known["stop_sequences"] = tuple(_words(words))
    if isinstance(thinking := rest.get("thinkingConfig"), Mapping):
        thinking = spelled(thinking)
        if isinstance(thinking.get("thinkingLevel"), str):
            known["reasoning_level"] = thinking.pop("thinkingLevel")
            del rest["thinkingConfig"]
            _put_back(rest, "thinkingConfig", thinking, known)
    _put_back(extra, "generationConfig", rest, known)
    return known


def _words(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"expected text, got {type(value).__name__}")
        yield value


def _read_tools(entries: Any) -> Iterator[ToolDefinition]:
    for entry in entries:
        for kind, value in spelled(entry).items():
            if kind == "functionDeclarations":
                yield from (_read_function(function) for function in value)
            else:
                yield ToolDefinition(kind, type=kind, extra={NAME: {kind: value}})


def _read_function(wire: Mapping[str, Any]) -> ToolDefinition:
    own = spelled(wire)
    (name,) = _words([own.pop("name")])
    description = own.pop("description") if isinstance(own.get("description"), str) else None
    schema = None
    for field in ("parametersJsonSchema", "parameters"):
        if schema is None and isinstance(own.get(field), Mapping):
            schema = own.pop(field)
            if field == "parameters":
                own[UNDER] = field
    return ToolDefinition(name, description, schema, extra={NAME: own} if own else {})


def _read_choice(extra: Wire) -> ToolChoice | None:
    if not isinstance(extra.get("toolConfig"), Mapping):
        return None
    rest = spelled(extra["toolConfig"])
    config = rest.pop("functionCallingConfig", None)
    if not isinstance(config, Mapping):
        return None
    config = spelled(config)
    for word in (*_MODES, *_words(config.get("allowedFunctionNames") or ())):
        if config == _write_choice(word):
            del extra["toolConfig"]
            _put_back(extra, "toolConfig", rest, word)
            return word
    return None

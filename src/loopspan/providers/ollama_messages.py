"""Messages and tools of Ollama's chat, in both directions: https://docs.ollama.com/api/chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from loopspan.errors import ConfigurationError, UnsupportedContent
from loopspan.jsontext import dump_text, load
from loopspan.messages import (
    Blob,
    Extra,
    Generic,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
)
from loopspan.providers import thinking

NAME = "ollama"

_MADE = "loopspan-"
"""How an id begins that the server did not give; such ids are never sent."""

_THINKING = ("thinking", "reasoning")
_Wire: TypeAlias = dict[str, Any]


def wires(messages: Iterable[Message]) -> list[_Wire]:
    """Return a dialogue as the API's messages."""
    messages = tuple(messages)
    names = {call.id: call.name for m in messages for call in m.tool_calls if call.id}
    result: list[_Wire] = []
    for message in messages:
        for wire, part in message.form((NAME, "wire"), _wires):
            # The API knows a result by the tool's name alone, other providers by its id.
            if part and part.name is None and not part.own(NAME) and part.id in names:
                wire = wire | {"tool_name": names[part.id]}
            result.append(wire)
    return result


def _wires(message: Message) -> list[tuple[_Wire, ToolCallResponse | None]]:
    """Return the API's messages of one of ours: each result of a tool is one of its own."""
    result: list[tuple[_Wire, ToolCallResponse | None]] = []
    for part in message.parts:
        if isinstance(part, ToolCallResponse):
            result.append((_result(part), part))
            continue
        if not result or (result[-1][1] and not isinstance(part, Blob | Generic)):
            role = "user" if result and message.role == "tool" else message.role
            result.append(({"role": role, "content": ""}, None))
        _add(result[-1][0], part)
    return result or [({"role": message.role, "content": ""}, None)]


def _result(part: ToolCallResponse) -> _Wire:
    response = part.response
    content = response if isinstance(response, str) else dump_text(response)
    wire: _Wire = {"role": "tool", "content": content}
    if part.name is not None:
        wire["tool_name"] = part.name
    if part.id and not part.id.startswith(_MADE) and not part.own(NAME).get("linked"):
        wire["tool_call_id"] = part.id
    return wire


def _add(wire: _Wire, part: Part) -> None:
    own = part.own(NAME)
    match part:
        case Text():
            wire["content"] += own.get("before", "") + part.content
        case Reasoning() if field := own.get("field"):
            wire[field] = part.content
        case Reasoning():
            wire["content"] += thinking.inline(part, NAME) or ""
        case ToolCall():
            wire.setdefault("tool_calls", []).append(_call(part))
        case Blob(modality="image"):  # https://docs.ollama.com/capabilities/vision
            wire.setdefault("images", []).append(part.content)
        case Generic() if own.get("field"):
            wire[part.type] = part.body
        case Generic() if wire["role"] == "assistant":
            pass  # another provider's detail of an answer
        case _:
            raise UnsupportedContent(
                f"ollama takes text and images as data, no part of type {part.type!r}; "
                "take it out, or give an image as a Blob"
            )


def _call(part: ToolCall) -> _Wire:
    own = part.own(NAME)
    arguments = part.arguments if part.arguments is not None else {}
    if not isinstance(arguments, dict):
        # The API takes an object only; what the model wrote stays readable in it.
        arguments = {"arguments": arguments}
    function = {"name": part.name, "arguments": arguments, **own.get("function", {})}
    wire: _Wire = {"function": function, **own.get("call", {})}
    if part.id and not part.id.startswith(_MADE):
        wire["id"] = part.id
    return wire


def tool_wire(tool: ToolDefinition) -> _Wire:
    """Return a tool as the API's; raises `ConfigurationError` for one that it would have to run."""
    own = tool.extra.get(NAME, {})
    if "raw" in own:
        return dict(own["raw"])
    if tool.type != "function":
        raise ConfigurationError(
            f"ollama runs no tools itself, and {tool.name!r} is of type {tool.type!r}; "
            "offer tools of type 'function'"
        )
    function: _Wire = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    function |= own.get("function", {})
    return {"type": "function", "function": function, **own.get("tool", {})}


def read_messages(dialogue: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return a dialogue; calls and results without ids get ones by their place in it."""
    messages: list[Message] = []
    waiting: list[ToolCall] = []
    for wire in dialogue:
        role = text(wire["role"])
        if role == "tool":
            parts = _read_result(wire, waiting)
        else:
            parts = read_parts(wire, f"m{len(messages)}")
        messages.append(Message(role, parts))
        if role == "assistant":
            waiting = list(messages[-1].tool_calls)
    return tuple(messages)


def _read_result(wire: Mapping[str, Any], waiting: list[ToolCall]) -> tuple[Part, ...]:
    """Return a result, with the id of the first waiting call that it fits where it bears none."""
    name, id = text(wire.get("tool_name")) or None, text(wire.get("tool_call_id")) or None
    own: dict[str, Any] = {}
    call = next((c for c in waiting if (c.id == id if id else name in (None, c.name))), None)
    if call is not None:
        waiting.remove(call)
        if id is None and call.id is not None:
            id = call.id
            if name is None or not id.startswith(_MADE):
                own["linked"] = True
    known = ("role", "content", "tool_name", "tool_call_id")
    result = ToolCallResponse(text(wire.get("content")), id, name, extra=_extra(own))
    return (result, *_others(wire, known))


def read_parts(wire: Mapping[str, Any], place: str) -> tuple[Part, ...]:
    """Return the parts of a message; calls without an id get one that is made of `place`."""
    parts: list[Part] = [
        Reasoning(thought, extra={NAME: {"field": field}})
        for field in _THINKING
        if (thought := text(wire.get(field)))
    ]
    content = text(wire.get("content"))
    if wire.get("role") == "assistant":
        # Thinking that is switched off can still be in the text, with the end of its tag only:
        # https://github.com/ollama/ollama/issues/18044
        parts += _split(content, stray=not parts)
    elif content:
        parts.append(Text(content))
    parts += (
        _read_call(call, f"{_MADE}{place}-{number}")
        for number, call in enumerate(wire.get("tool_calls") or ())
    )
    return (*parts, *_others(wire, ("role", "content", "tool_calls", *_THINKING)))


def _split(content: str, *, stray: bool) -> list[Text | Reasoning]:
    parts = thinking.split(content, NAME, stray=stray)
    if len(parts) == 1 and isinstance(answer := parts[0], Text):
        # Empty thinking leaves no part; its tags go back before the answer.
        before = content.removesuffix(answer.content)
        return [Text(answer.content, extra=_extra({"before": before} if before else {}))]
    return parts


def _others(wire: Mapping[str, Any], known: tuple[str, ...]) -> Iterator[Part]:
    for field, value in wire.items():
        if field == "images":
            yield from (Blob("image", text(image)) for image in value or ())
        elif field not in known and value:
            yield Generic(field, value, extra={NAME: {"field": True}})


def _read_call(wire: Mapping[str, Any], made: str) -> ToolCall:
    function = dict(wire["function"])
    name = text(function.pop("name"))
    arguments = function.pop("arguments", {})
    if not isinstance(arguments, dict):
        function["arguments"] = arguments
        arguments = _parsed(arguments)
    call = {k: v for k, v in wire.items() if k not in ("function", "id")}
    own = {k: v for k, v in (("function", function), ("call", call)) if v}
    return ToolCall(name, arguments, text(wire.get("id")) or made, extra=_extra(own))


def read_tool(wire: Mapping[str, Any]) -> ToolDefinition:
    """Return a tool that was offered; one of another shape keeps it whole."""
    function = wire.get("function")
    if wire.get("type") != "function" or not isinstance(function, dict):
        kind = str(wire.get("type") or "unknown")
        name = str(wire.get("name") or kind)
        return ToolDefinition(name, type=kind, extra={NAME: {"raw": wire}})
    description, parameters = function.get("description"), function.get("parameters")
    known = {
        "name": True,
        "description": isinstance(description, str),
        "parameters": isinstance(parameters, dict),
    }
    rest = {k: v for k, v in function.items() if not known.get(k)}
    tool = {k: v for k, v in wire.items() if k not in ("type", "function")}
    return ToolDefinition(
        text(function["name"]),
        description if known["description"] else None,
        parameters if known["parameters"] else None,
        extra=_extra({k: v for k, v in (("function", rest), ("tool", tool)) if v}),
    )


def text(value: Any) -> str:
    """Return a text of the wire, empty where there is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def _extra(own: Mapping[str, Any]) -> Extra:
    return {NAME: own} if own else {}


def _parsed(arguments: Any) -> Any:
    """Return the arguments that a server wrote as text; nothing is an empty object."""
    if arguments is None or arguments == "":
        return {}
    try:
        return load(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments

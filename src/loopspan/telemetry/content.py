"""Content as attribute text: what may be recorded, and its JSON, made once a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from loopspan.errors import ConfigurationError
from loopspan.jsontext import dump_text, load
from loopspan.messages import Choice, Message, Part, ToolDefinition, part_from_json
from loopspan.telemetry import semconv as names

Content: TypeAlias = Literal["off", "metadata", "full"]
"""`off`: no content attribute; `metadata`: roles, part types, names, sizes; `full`: all of it."""


def content_mode(value: str) -> Content:
    """Return the mode that this word names."""
    for mode in get_args(Content):
        if value == mode:
            result: Content = mode
            return result
    raise ConfigurationError(f"content {value!r} is unknown; use one of off, metadata, full")


Told: TypeAlias = Mapping[int, str]
"""The text of messages whose content another span of the run has told already, by their `id()`."""

NOTHING_TOLD: Told = {}


def messages_text(messages: Iterable[Message], mode: Content, told: Told = NOTHING_TOLD) -> str:
    """Return a message list as JSON text."""
    texts = (told.get(id(message)) or _message_text(message, mode) for message in messages)
    return "[" + ",".join(texts) + "]"


def result_reference(message: Message, span_id: str) -> str:
    """Return a tool's message with a reference in place of the result that its span holds."""
    whole = message.to_json()
    for part, json in zip(message.parts, whole["parts"], strict=True):
        json["response"] = {names.RESULT_OF: span_id, "bytes": _size(part)}
    return dump_text(whole)


def instructions_text(messages: Iterable[Message], mode: Content) -> str:
    """Return system messages as the list of parts that `gen_ai.system_instructions` holds."""
    parts = [_part_json(part, mode) for message in messages for part in message.parts]
    return dump_text(parts)


def choices_text(choices: Sequence[Choice], mode: Content) -> str:
    """Return the answers of a reply; the schema wants a finish reason in each."""
    return (
        "["
        + ",".join(
            f'{_message_text(choice.message, mode)[:-1]},"finish_reason":'
            f"{dump_text(choice.finish_reason)}}}"
            for choice in choices
        )
        + "]"
    )


def definitions_text(tools: Iterable[ToolDefinition], mode: Content) -> str:
    """Return tool definitions; their names alone unless everything may be recorded."""
    if mode == "full":
        return dump_text([tool.to_json() for tool in tools])
    return dump_text([{"type": tool.type, "name": tool.name} for tool in tools])


def arguments_text(arguments: Any, mode: Content) -> str:
    """Return the arguments of a call as a JSON object."""
    if mode == "metadata":
        return dump_text({"bytes": len(dump_text(arguments).encode())})
    wrapped = not isinstance(arguments, dict) or _looks_wrapped(arguments)
    return dump_text({"arguments": arguments} if wrapped else arguments)


def result_text(text: str, is_object: bool, mode: Content) -> str:
    """Return a tool's result text as a JSON object; `is_object` says that it already is one."""
    if mode == "metadata":
        return dump_text({"bytes": len(text.encode("utf-8", "replace"))})
    # An object that looks wrapped is wrapped too, so that readers get back what was there.
    return text if is_object and not text.startswith('{"result":"') else dump_text({"result": text})


def _looks_wrapped(arguments: Mapping[str, Any]) -> bool:
    if arguments.keys() != {"arguments"}:
        return False
    inner = arguments["arguments"]
    return not isinstance(inner, dict) or inner.keys() == {"arguments"}


def text_metadata(name: str, text: str) -> str | None:
    """Return a content attribute's text without what it carries, `None` where nothing is left."""
    try:
        value = load(text)
    except ValueError:
        return None
    match value:
        case [*items] if name in (names.INPUT_MESSAGES, names.OUTPUT_MESSAGES):
            return dump_text([_json_metadata(m) for m in items if isinstance(m, dict)])
        case [*items] if name == names.SYSTEM_INSTRUCTIONS:
            return dump_text([part_metadata(part) for part in items if isinstance(part, dict)])
        case [*items] if name == names.TOOL_DEFINITIONS:
            tools = [tool for tool in items if isinstance(tool, dict)]
            return dump_text([{k: t[k] for k in ("type", "name") if k in t} for t in tools])
        case {"bytes": int()} if len(value) == 1:
            return text
        case dict() if name in (names.TOOL_CALL_ARGUMENTS, names.TOOL_CALL_RESULT):
            return dump_text({"bytes": len(text.encode("utf-8", "replace"))})
        case _:
            return None


def _json_metadata(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {k: message[k] for k in _MESSAGE_NAMES if k in message}
    parts = message.get("parts") or ()
    return {**kept, "parts": [part_metadata(part) for part in parts if isinstance(part, dict)]}


def _message_text(message: Message, mode: Content) -> str:
    if mode == "full":
        return message.form("content", lambda m: dump_text(m.to_json()))
    return message.form("metadata", lambda m: dump_text(_json_metadata(m.to_json())))


def _part_json(part: Part, mode: Content) -> dict[str, Any]:
    return part.to_json() if mode == "full" else part_metadata(part.to_json())


def part_metadata(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return what may be said of a part without what it carries."""
    kept = {k: part[k] for k in _NAMES if k in part}
    if names.NOT_RECORDED in part or any(_is_placeholder(part.get(key)) for key in _CARRIERS):
        return {**kept, names.NOT_RECORDED: True}
    response = part.get("response")
    # A reference says the size of what it stands for.
    sized = response if isinstance(response, dict) and names.RESULT_OF in response else part
    return {**kept, "bytes": sized["bytes"] if "bytes" in sized else _size(part_from_json(part))}


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, dict) and names.NOT_RECORDED in value


def _size(part: Part) -> int:
    return len(part.carried.encode("utf-8", "surrogatepass"))


_MESSAGE_NAMES = ("role", "name", "finish_reason", names.LEFT_OUT)
_NAMES = ("type", "id", "name", "modality", "mime_type", "is_error", names.LEFT_OUT)
_CARRIERS = ("arguments", "response", "body")

"""What a request to the Anthropic Messages API holds, in both directions.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loopspan.errors import ConfigurationError, UnsupportedContent
from loopspan.messages import Generic, Message, Parameters, Text, ToolDefinition
from loopspan.providers.anthropic_blocks import (
    NAME,
    extra,
    is_number,
    read_parts,
    string,
    write_blocks,
)

_SETTINGS = ("temperature", "top_p", "top_k", "max_tokens")
_UNKNOWN = {
    "seed": (None,),
    "frequency_penalty": (None,),
    "presence_penalty": (None,),
    "choice_count": (None, 1),
}
"""Settings that the API has no field for, and the values that need none."""
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}


def is_system(message: Message) -> bool:
    """Whether the message holds instructions of the developer."""
    return message.role in ("system", "developer")


def write_system(message: Message) -> list[dict[str, Any]]:
    """Return the blocks of a system message."""
    for part in message.parts:
        if not isinstance(part, Text | Generic):
            raise UnsupportedContent(
                f"a system message takes text only, not {part.type!r}; send it as user"
            )
    return write_blocks(message.parts, "system")


def _write_message(message: Message) -> dict[str, Any]:
    role = "user" if message.role == "tool" else message.role
    return {"role": role, "content": write_blocks(message.parts, role)}


def write_dialogue(dialogue: Iterable[Message]) -> list[dict[str, Any]]:
    """Return the messages behind the leading system messages; empty ones are left out.

    A later system message has the role `system`, for the models that know it. It must follow the
    user's turn and end it, and there is at most one: it goes to the next place of that kind.
    https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
    """
    wire: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    results = False
    for message in dialogue:
        if is_system(message):
            waiting += message.form((NAME, "system"), write_system)
            continue
        written = message.form((NAME, "wire"), _write_message)
        if not written["content"]:
            continue
        if waiting and message.role == "assistant":
            wire.append({"role": "system", "content": waiting})
            waiting = []
        if results and message.role == "tool":
            # All results of one round are one message:
            # https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use
            wire[-1] = {"role": "user", "content": wire[-1]["content"] + written["content"]}
        else:
            wire.append(written)
        results = message.role == "tool"
    if waiting:
        wire.append({"role": "system", "content": waiting})
    return wire


def read_dialogue(system: Any, messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return the messages; each leading block of instructions is a system message of its own."""
    dialogue = [Message("system", (part,)) for part in read_parts(system)]
    leading = True
    for message in messages:
        role, parts = string(message["role"]), read_parts(message["content"])
        leading = leading and role == "system"
        dialogue += [Message(role, (p,)) for p in parts] if leading else [Message(role, parts)]
    return tuple(dialogue)


def write_tool(tool: ToolDefinition) -> dict[str, Any]:
    """Return a tool; other types than `function` are those that Anthropic runs or defines.

    https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview
    """
    fields: dict[str, Any] = {"name": tool.name}
    if tool.type != "function":
        fields["type"] = tool.type
    if tool.description is not None:
        fields["description"] = tool.description
    if tool.parameters is not None:
        fields["input_schema"] = tool.parameters
    elif tool.type == "function":
        fields["input_schema"] = {"type": "object", "properties": {}}
    fields |= tool.extra.get(NAME, {})
    return {key: value for key, value in fields.items() if value is not None}


def read_tool(tool: Mapping[str, Any]) -> ToolDefinition:
    """Return the definition of a tool; what it has no name for is kept in its extra."""
    kind = tool.get("type")
    custom = kind is None or kind == "custom"
    named = ("name", "description", "input_schema") + (() if custom else ("type",))
    kept = extra(tool, *named)
    if "name" not in tool and not custom:
        # A toolset has a type only; that name of ours must not be sent.
        kept = {NAME: {**kept.get(NAME, {}), "name": None}}
    return ToolDefinition(
        string(tool["name"] if custom else tool.get("name", kind)),
        tool.get("description"),
        tool.get("input_schema"),
        "function" if custom else string(kind),
        kept,
    )


def write_choice(choice: str) -> dict[str, str]:
    """Return a tool choice; any other word than the three is a tool's name."""
    if choice in _CHOICES:
        return {"type": _CHOICES[choice]}
    return {"type": "tool", "name": choice}


def read_choice(choice: Any) -> str | None:
    """Return the word of a tool choice, or `None` where there is none."""
    match choice:
        case {"type": "auto" | "none" as word}:
            return str(word)
        case {"type": "any"}:
            return "required"
        case {"type": "tool", "name": str(name)}:
            return name
        case _:
            return None


def write_settings(settings: Parameters) -> dict[str, Any]:
    """Return the settings that the conventions have names for."""
    for name, needless in _UNKNOWN.items():
        if (value := getattr(settings, name)) not in needless:
            raise ConfigurationError(
                f"anthropic has no such setting, and {name} is {value!r}; take it out"
            )
    stop = settings.stop_sequences
    fields = {name: getattr(settings, name) for name in _SETTINGS}
    fields["stop_sequences"] = None if stop is None else list(stop)
    return {name: value for name, value in fields.items() if value is not None}


def own_fields(settings: Parameters) -> dict[str, Any]:
    """Return the fields that are Anthropic's own, the effort among them.

    https://platform.claude.com/docs/en/build-with-claude/effort
    """
    fields = dict(settings.extra)
    if settings.reasoning_level is not None:
        config = fields.get("output_config")
        others = config if isinstance(config, Mapping) else {}
        fields["output_config"] = {"effort": settings.reasoning_level, **others}
    return fields


def read_settings(fields: dict[str, Any]) -> Parameters:
    """Return the settings; what is not of the documented kind stays a field of the provider's."""
    known: dict[str, Any] = {}
    for name in _SETTINGS:
        if fields.get(name) is None or is_number(fields[name]):
            known[name] = fields.pop(name, None)
    match fields.get("stop_sequences"):
        case [*stop] if all(isinstance(word, str) for word in stop):
            known["stop_sequences"] = tuple(fields.pop("stop_sequences"))
    match fields.get("output_config"):
        case {"effort": str(effort), **others}:
            known["reasoning_level"] = effort
            fields["output_config"] = others
            if not others:
                del fields["output_config"]
    return Parameters(**known, extra=fields)

"""Tool calls and their results in the chat-completions format, in both directions.

https://platform.openai.com/docs/guides/function-calling?api-mode=chat
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.jsontext import dump_text, load
from loopspan.messages import Generic, Part, ToolCall, ToolCallResponse
from loopspan.providers.adapter import Adapter


class ChatCalls(Adapter):
    """What a model asks for, and what it is told."""

    def _put_call(self, part: ToolCall, wire: dict[str, Any]) -> None:
        own = part.own(self.name)
        arguments = own.get("arguments")
        if "arguments" not in own:
            arguments = dump_text({} if part.arguments is None else part.arguments)
        if own.get("legacy"):
            wire["function_call"] = {"name": part.name, "arguments": arguments}
            return
        call: dict[str, Any] = {} if part.id is None else {"id": part.id}
        if own.get("custom"):
            call |= {"type": "custom", "custom": {"name": part.name, "input": arguments}}
        else:
            function = {"name": part.name, "arguments": arguments, **own.get("function", {})}
            call |= {"type": "function", "function": function}
        wire.setdefault("tool_calls", []).append({**call, **own.get("call", {})})

    def _write_result(self, role: str, part: ToolCallResponse) -> dict[str, Any]:
        own = part.own(self.name)
        wire: dict[str, Any] = {"role": role if role in ("tool", "function") else "tool"}
        if part.id is not None:
            wire["tool_call_id"] = part.id
        elif part.name is not None:
            wire["name"] = part.name
        as_is = isinstance(part.response, str) or own.get("parts")
        wire["content"] = part.response if as_is else dump_text(part.response)
        return {**wire, **own.get("fields", {})}

    def _read_calls(self, wire: Mapping[str, Any], sent: bool) -> Iterator[Part]:
        for call in wire.get("tool_calls") or ():
            yield self._read_call(call, sent)
        legacy = wire.get("function_call")
        if legacy and wire.get("tool_calls"):
            # Some servers (llama-cpp-python) tell one call in both forms; it is made once.
            if sent:
                yield Generic("function_call", legacy, extra={self.name: {"field": True}})
        elif legacy:
            arguments, own = _arguments(legacy, sent)
            name = str(legacy.get("name") or "")
            yield ToolCall(name, arguments, extra={self.name: {**own, "legacy": True}})

    def _read_call(self, wire: Mapping[str, Any], sent: bool) -> Part:
        id = wire.get("id")
        id = id if isinstance(id, str) and id else None
        if isinstance(custom := wire.get("custom"), Mapping):
            text = custom.get("input") or ""
            own = {"custom": True, "arguments": text}
            return ToolCall(str(custom.get("name") or ""), text, id, extra={self.name: own})
        function = wire.get("function")
        if not isinstance(function, Mapping):
            return Generic(
                str(wire.get("type") or "tool_call"), dict(wire), extra={self.name: {"call": True}}
            )
        arguments, own = _arguments(function, sent)
        if rest := _others(function, sent, "name", "arguments"):
            own["function"] = rest
        if rest := _others(wire, sent, "id", "type", "function", *(() if sent else ("index",))):
            own["call"] = rest
        extra = {self.name: own} if own else {}
        return ToolCall(str(function.get("name") or ""), arguments, id, extra=extra)

    def _read_result(self, wire: Mapping[str, Any]) -> ToolCallResponse:
        content, id, name = (wire.get(key) for key in ("content", "tool_call_id", "name"))
        id, name = (value if isinstance(value, str) else None for value in (id, name))
        own: dict[str, Any] = {} if isinstance(content, str) else {"parts": True}
        known = {"role", "content", "name" if id is None else "tool_call_id"}
        if rest := {k: v for k, v in wire.items() if k not in known}:
            own["fields"] = rest
        return ToolCallResponse(content, id, name, extra={self.name: own} if own else {})


def _arguments(function: Mapping[str, Any], sent: bool) -> tuple[Any, dict[str, Any]]:
    """Return parsed arguments, and their text where writing them would give another one.

    Empty arguments that a server answered are not sent back to it as they were: servers that
    write them may not be able to read them (https://github.com/vllm-project/vllm/issues/19419).
    """
    raw = function.get("arguments")
    if isinstance(raw, str) and raw.strip():
        try:
            arguments = load(raw)
        except ValueError:
            return raw, {"arguments": raw}
        arguments = {} if arguments is None else arguments
        same = dump_text(arguments) == raw
    else:
        arguments = {} if raw is None or isinstance(raw, str) else raw
        same = not sent or "arguments" not in function
    return arguments, {} if same else {"arguments": raw}


def _others(wire: Mapping[str, Any], sent: bool, *known: str) -> dict[str, Any]:
    return {k: v for k, v in wire.items() if k not in known and (sent or v is not None)}

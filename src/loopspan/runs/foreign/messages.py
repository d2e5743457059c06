"""Messages in the many shapes that people write them in, as the conventions have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from loopspan.jsontext import load
from loopspan.telemetry import semconv as names

JSON = dict[str, Any]


def parsed(value: Any) -> Any:
    """Return what a JSON text holds, and anything else as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return load(value)
    except ValueError:
        return value


def plain(value: Any) -> Any:
    """Return a structure as JSON has it; the SDK makes tuples of the lists inside of attributes.

    A tuple of texts or numbers is an ordinary attribute, and stays.
    """
    return _plain(value) if isinstance(value, Mapping) or _is_nested(value) else value


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(each, Mapping | list | tuple) for each in value
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value


def messages(value: Any, role: str) -> list[JSON]:
    """Return the messages that a value holds; what names no role is of `role`."""
    found = parsed(value)
    match found:
        case None:
            return []
        case {"messages": [*inner]}:
            head = [{"role": "system", "content": found["system"]}] if found.get("system") else []
            return [message(each, role) for each in (*head, *inner)]
        case {"prompt": inner} if "role" not in found:
            head = messages(found.get("system"), "system")
            return [*head, *messages(inner, role)]
        case Mapping():
            return [message(found, role)]
        case str():
            return [{"role": role, "parts": [text(found)]}] if found else []
        case Sequence():
            return [message(each, role) for each in found]
        case _:
            return []


def message(value: Any, role: str) -> JSON:
    """Return one message."""
    value = parsed(value)
    if not isinstance(value, Mapping):
        return {"role": role, "parts": [] if value is None else [text(str(value))]}
    inner = value.get("message")
    if isinstance(inner, Mapping) and "role" not in value:
        value = {**{k: v for k, v in value.items() if k != "message"}, **inner}
    made: JSON = {"role": str(value.get("role") or role), "parts": [*_parts(value)]}
    for name in ("name", "finish_reason"):
        # The name of a tool's message is the tool's, and told with its result.
        if isinstance(value.get(name), str) and (name, made["role"]) != ("name", "tool"):
            made[name] = value[name]
    return made


def text(content: str) -> JSON:
    """Return a text part."""
    return {"type": "text", "content": content}


def _parts(value: Mapping[str, Any]) -> Iterator[JSON]:
    if isinstance(own := parsed(value.get("parts")), Sequence) and not isinstance(own, str):
        yield from map(_part, own)
        return
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(told := value.get(name), str) and told:
            yield {"type": "reasoning", "content": told}
            break
    content = parsed(value.get("content"))
    content = parsed(value.get("contents")) if content is None else content
    call_id = value.get("tool_call_id") or (
        value.get("id") if value.get("role") == "tool" else None
    )
    if isinstance(call_id, str):
        yield _clean(
            {
                "type": "tool_call_response",
                "id": call_id,
                "name": value.get("name"),
                "response": content,
            }
        )
    elif isinstance(content, str):
        yield from [text(content)] if content else ()
    elif isinstance(content, Mapping):
        yield _part(content)
    elif isinstance(content, Sequence):
        yield from map(_part, content)
    calls = parsed(value.get("tool_calls"))
    if isinstance(calls, Sequence) and not isinstance(calls, str):
        yield from map(_call, calls)


def _part(value: Any) -> JSON:
    value = parsed(value)
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, Mapping):
        return {"type": "unknown", "content": value}
    if isinstance(inner := value.get("message_content"), Mapping):
        value = inner
    kind = value.get("type") or value.get("part_kind") or value.get("kind")
    make = _SHAPES.get(str(kind))
    return _clean({"type": str(kind), **value} if make is None else make(value))


def _call(value: Any) -> JSON:
    value = parsed(value)
    if not isinstance(value, Mapping):
        return {"type": "unknown", "content": value}
    if isinstance(inner := value.get("tool_call"), Mapping):
        value = inner
    function = value.get("function")
    told = function if isinstance(function, Mapping) else value
    return _tool_call(value.get("id"), told.get("name"), told.get("arguments"))


def _tool_call(id: Any, name: Any, arguments: Any) -> JSON:
    known = {names.NOT_RECORDED: True} if arguments is None else parsed(arguments)
    return _clean({"type": "tool_call", "id": id, "name": str(name or ""), "arguments": known})


def _response(id: Any, name: Any, response: Any) -> JSON:
    made = _clean({"type": "tool_call_response", "id": id, "name": name})
    return {**made, "response": parsed(response)}


def _image(value: Mapping[str, Any]) -> JSON:
    inner: Any = value.get("image_url") or value.get("image") or value.get("url")
    while isinstance(inner, Mapping):
        inner = inner.get("url") or inner.get("image")
    url = str(inner or "")
    head, comma, data = url.partition(",")
    if url.startswith("data:") and comma:
        kind = head.removeprefix("data:").partition(";")[0]
        return {"type": "blob", "modality": "image", "mime_type": kind, "content": data}
    return {"type": "uri", "modality": "image", "uri": url}


def _first(value: Mapping[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _as_text(value: Mapping[str, Any]) -> JSON:
    told = _first(value, "content", "text")
    # With content off some write the part and leave out its text.
    known = {names.NOT_RECORDED: True} if told is None else {}
    rest = {k: v for k, v in value.items() if k not in ("kind", "text")}
    return {**rest, "type": "text", "content": told, **known}


def _as_reasoning(value: Mapping[str, Any]) -> JSON:
    told = _first(value, "content", "text", "thinking")
    return {"type": "reasoning", "content": told if isinstance(told, str) else ""}


def _as_call(value: Mapping[str, Any]) -> JSON:
    return _tool_call(
        _first(value, "id", "toolCallId", "tool_call_id"),
        _first(value, "name", "toolName", "tool_name"),
        _first(value, "arguments", "input", "args"),
    )


def _as_response(value: Mapping[str, Any]) -> JSON:
    output = _first(value, "response", "result", "output", "content")
    if isinstance(output, Mapping) and output.keys() == {"type", "value"}:  # Vercel's
        output = output["value"]
    return _response(
        _first(value, "id", "toolCallId", "tool_call_id", "tool_use_id"),
        _first(value, "name", "toolName", "tool_name"),
        output,
    )


_SHAPES: Mapping[str, Callable[[Mapping[str, Any]], JSON]] = {
    "text": _as_text,
    "input_text": _as_text,
    "output_text": _as_text,
    "user-prompt": _as_text,
    "system-prompt": _as_text,
    "reasoning": _as_reasoning,
    "thinking": _as_reasoning,
    "tool_call": _as_call,
    "tool-call": _as_call,
    "tool_use": _as_call,
    "tool_call_response": _as_response,
    "tool-result": _as_response,
    "tool_result": _as_response,
    "tool-return": _as_response,
    "image": _image,
    "image_url": _image,
    "input_image": _image,
}


def _clean(part: Mapping[str, Any]) -> JSON:
    return {
        name: value
        for name, value in part.items()
        if value is not None and name not in ("text", "part_kind")
    }


def indexed(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """Return the list that keys such as `prefix.0.role` and `prefix.0.tool_calls.1.name` spell."""
    tree: JSON = {}
    for key, value in attributes.items():
        if key.startswith(f"{prefix}."):
            _put(tree, key[len(prefix) + 1 :].split("."), value)
    found = _listed(tree)
    return found if isinstance(found, list) else []


def _put(tree: JSON, path: Sequence[str], value: Any) -> None:
    for step in path[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(path[-1], value)


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        return [_listed(tree[key]) for key in sorted(tree, key=int)]
    return {key: _listed(value) for key, value in tree.items()}


def definitions(tools: Iterable[Any]) -> list[JSON]:
    """Return tool definitions as the conventions have them."""
    made: list[JSON] = []
    for tool in map(parsed, tools):
        if not isinstance(tool, Mapping):
            continue
        inner = parsed(tool.get("tool.json_schema") or tool.get("json_schema") or tool)
        if isinstance(nested := tool.get("tool"), Mapping):
            inner = parsed(nested.get("json_schema"))
        if not isinstance(inner, Mapping):
            continue
        function = inner.get("function")
        told = function if isinstance(function, Mapping) else inner
        schema = parsed(
            _first(told, "parameters", "input_schema", "inputSchema", "parameters_json_schema")
        )
        made.append(
            _clean(
                {
                    "type": str(inner.get("type") or "function"),
                    "name": str(told.get("name") or ""),
                    "description": told.get("description"),
                    "parameters": schema,
                }
            )
        )
    return made

"""Streams of the chat-completions format, put together into the body of a plain answer.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.messages import Reasoning, Text
from loopspan.providers.adapter import Delta, StreamState
from loopspan.providers.thinking import Splitter

_NO_ID = ("", "null")
"""What servers write where a delta has no id of a call."""


def add(state: StreamState, chunk: Mapping[str, Any], thinking: tuple[str, ...]) -> Iterator[Delta]:
    """Put one chunk into the body; `thinking` are the fields of a message that hold it."""
    body = state.body
    choices = body.setdefault("choices", [])
    for key, value in chunk.items():
        if key not in ("choices", "object"):
            # The first chunk of Azure has an empty id and model, later ones may repeat null.
            body[key] = _merged(body.get(key), value) if key != "usage" else value or body.get(key)
    for number, part in enumerate(chunk.get("choices") or ()):
        index = part.get("index")
        index = index if isinstance(index, int) else number
        choice = next((c for c in choices if c["index"] == index), None)
        if choice is None:
            message = {"role": "assistant", "content": None}
            choice = {"index": index, "message": message, "finish_reason": None}
            choices.append(choice)
            choices.sort(key=lambda c: c["index"])
        delta = part.get("delta") or {}
        for key, value in part.items():
            if key not in ("index", "delta"):
                choice[key] = _merged(choice.get(key), value)
        _add_delta(choice["message"], delta, thinking)
        if choice is choices[0]:
            yield from _seen(state, delta, thinking, ended=bool(part.get("finish_reason")))


def is_complete(body: Mapping[str, Any]) -> bool:
    """Return whether each choice told why it ended."""
    choices = body.get("choices") or ()
    return bool(choices) and all(choice["finish_reason"] for choice in choices)


def _seen(
    state: StreamState, delta: Mapping[str, Any], thinking: tuple[str, ...], ended: bool
) -> Iterator[Delta]:
    """Yield what people see of a delta."""
    splitter: Splitter = state.scratch.setdefault("splitter", Splitter())
    if reasoning := next((text for name in thinking if (text := delta.get(name))), None):
        yield Reasoning(str(reasoning))
    match delta.get("content"):
        case str(text):
            yield from splitter.feed(text)
        case list(parts):
            for part in parts:
                if part.get("type") == "thinking":
                    said = "".join(str(t.get("text") or "") for t in part.get("thinking") or ())
                    yield from [Reasoning(said)] if said else ()
                elif text := part.get("text"):
                    yield Text(str(text))
    if refusal := delta.get("refusal"):
        yield Text(str(refusal))
    match delta.get("audio"):
        case {"transcript": str(text)} if text:
            yield Text(text)
    if ended:
        yield from splitter.close()


def _add_delta(
    message: dict[str, Any], delta: Mapping[str, Any], thinking: tuple[str, ...]
) -> None:
    for key, value in delta.items():
        if value is None or (key == "role" and not value):
            continue
        if key == "content":
            _add_content(message, value)
        elif key == "tool_calls":
            for call in value:
                _add_call(message.setdefault("tool_calls", []), call)
        elif key == "function_call":
            _add_function(message.setdefault("function_call", {}), value)
        elif key == "reasoning_details":
            for detail in value:
                _add_detail(message.setdefault("reasoning_details", []), detail)
        elif key == "audio":
            _add_audio(message.setdefault("audio", {}), value)
        elif key == "refusal" or key in thinking:
            _append(message, key, value)
        else:
            message[key] = _merged(message.get(key), value)


def _add_content(message: dict[str, Any], value: Any) -> None:
    """Add text or a list of parts; Mistral goes from one to the other within a stream."""
    if isinstance(value, str) and not isinstance(message["content"], list):
        _append(message, "content", value)
        return
    content = message["content"]
    if not isinstance(content, list):
        content = message["content"] = [{"type": "text", "text": content}] if content else []
    parts = [{"type": "text", "text": value}] if isinstance(value, str) else value
    for part in parts:
        last = content[-1] if content else {}
        if part.get("type") != last.get("type") or last.get("closed"):
            if part.get("type") != "text" or part.get("text"):
                content.append({k: [*v] if isinstance(v, list) else v for k, v in part.items()})
        elif part["type"] == "text":
            _append(last, "text", part["text"])
        elif part["type"] == "thinking":
            _add_thinking(last, part)
        else:
            content.append(part)


def _add_thinking(last: dict[str, Any], part: Mapping[str, Any]) -> None:
    pieces = last["thinking"]
    for piece in part.get("thinking") or ():
        if pieces and pieces[-1].get("type") == piece.get("type") == "text":
            _append(pieces[-1], "text", piece["text"])
        else:
            pieces.append(piece)
    last.update({k: v for k, v in part.items() if k != "thinking" and v is not None})


def _add_call(calls: list[dict[str, Any]], delta: Mapping[str, Any]) -> None:
    call = _call_of(calls, delta)
    if call is None:
        call = {}
        calls.append(call)
    for key, value in delta.items():
        if key in ("function", "custom"):
            _add_function(call.setdefault(key, {}), value or {})
        elif key == "id":
            if value and value not in _NO_ID and not call.get("id"):
                call["id"] = value
        elif value is not None:
            call[key] = _merged(call.get(key), value)


def _call_of(calls: list[dict[str, Any]], delta: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the call that a delta goes on with, `None` where it starts one.

    The index tells calls apart. Some servers write index 0 for each call: there a new id begins
    another call, if a name comes with it. Where there is no index, the id tells, else the delta
    goes on with the last call, unless both have a name.
    """
    id, index = delta.get("id"), delta.get("index")
    id = None if id in _NO_ID else id
    name = (delta.get("function") or delta.get("custom") or {}).get("name")
    same = [call for call in calls if call.get("index") == index] if index is not None else calls
    if id and (known := next((call for call in same if call.get("id") == id), None)):
        return known
    last = same[-1] if same else None
    if last is None or (id and index is None):
        return None
    if index is not None:
        return None if id and last.get("id") and name else last
    named = (last.get("function") or last.get("custom") or {}).get("name")
    return None if name and named else last


def _add_function(function: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if key in ("arguments", "input") and isinstance(value, str):
            _append(function, key, value)
        elif key == "name":
            if value and not function.get("name"):
                function["name"] = value
        elif value is not None:
            function[key] = _merged(function.get(key), value)


def _add_detail(details: list[dict[str, Any]], delta: Mapping[str, Any]) -> None:
    """Add a fragment of reasoning details, which are told apart by index and type.

    https://openrouter.ai/docs/use-cases/reasoning-tokens
    """
    kind = (delta.get("index"), delta.get("type"))
    detail = next((d for d in details if (d.get("index"), d.get("type")) == kind), None)
    if detail is None:
        details.append(dict(delta))
        return
    for key, value in delta.items():
        if key in ("text", "summary", "data") and isinstance(value, str):
            _append(detail, key, value)
        elif value is not None:
            detail[key] = value


def _add_audio(audio: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if key == "data" and str(audio.get("data", "")).endswith("="):  # padded within the stream
            data = base64.b64decode(audio["data"]) + base64.b64decode(value)
            audio["data"] = base64.b64encode(data).decode()
        elif key in ("data", "transcript") and isinstance(value, str):
            _append(audio, key, value)
        elif value is not None:
            audio[key] = value


def _append(target: dict[str, Any], key: str, piece: str) -> None:
    """Append to a text in place: CPython copies it only where something else holds it."""
    if not isinstance(piece, str):
        raise TypeError(f"{key} is {type(piece).__name__}")
    text = target.get(key) or ""
    target[key] = None
    text += piece
    target[key] = text


def _merged(old: Any, new: Any) -> Any:
    """Return what two values of a field come to: null and empty text change nothing."""
    if new is None or (new == "" and old is not None):
        return old
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    if isinstance(old, list) and isinstance(new, list):
        return _merged_lists(old, new)
    return new


def _merged_lists(old: list[Any], new: list[Any]) -> list[Any]:
    """Return both lists as one; objects with the same `index` are one object."""
    result = [*old]
    for item in new:
        index = item.get("index") if isinstance(item, dict) else None
        at = next(
            (
                n
                for n, known in enumerate(result)
                if index is not None and isinstance(known, dict) and known.get("index") == index
            ),
            None,
        )
        if at is None:
            result.append(item)
        else:
            result[at] = _merged(result[at], item)
    return result

"""Answers in the chat-completions format that `ScriptedModel` does not make by itself."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx

from loopspan.testing import Answer


def stream_of(*chunks: Mapping[str, Any]) -> Answer:
    """A stream of these chunks, the rest of each filled in."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted-1"}
    events = "".join(f"data: {json.dumps({**head, **chunk})}\n\n" for chunk in chunks)
    content = f"{events}data: [DONE]\n\n".encode()
    headers = {"content-type": "text/event-stream"}
    return lambda _: httpx.Response(200, headers=headers, content=content)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one delta."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call_delta(index: int, **fields: Any) -> dict[str, Any]:
    """A chunk with a piece of a call: `id`, and `name` and `arguments` of its function."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return delta(tool_calls=[{"index": index, **fields, "function": function}])


def pieces(text: str, count: int) -> Iterable[str]:
    """The text in so many pieces."""
    size = -(-len(text) // count)
    return [text[at : at + size] for at in range(0, len(text), size)]


def completion(message: Mapping[str, Any], **usage: Any) -> httpx.Response:
    """A plain answer of this message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted-1"}
    return httpx.Response(200, json={**head, "choices": [choice], "usage": usage})


def call(name: str, id: str, **arguments: Any) -> dict[str, Any]:
    """A call as a message holds it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": id, "type": "function", "function": function}

"""Short ways to ask the demo model something, without HTTP."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from loopspan.demo.completions import completion
from loopspan.demo.model import Answer, answer
from loopspan.demo.requests import ChatRequest, read

JSON = dict[str, Any]


def function(
    name: str,
    description: str = "",
    required: Sequence[str] | None = None,
    **properties: Mapping[str, Any],
) -> JSON:
    """A tool of these parameters, all of them required unless it is said which."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
    }
    described = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": described}


def user(content: Any) -> JSON:
    return {"role": "user", "content": content}


def calls(*named: tuple[str, Mapping[str, Any], str]) -> JSON:
    """An answer that asked for calls: name, arguments, id."""
    asked = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for name, given, id in named
    ]
    return {"role": "assistant", "content": None, "tool_calls": asked}


def result(id: str, content: str) -> JSON:
    return {"role": "tool", "tool_call_id": id, "content": content}


def body(prompt: str | Sequence[JSON], *tools: JSON, **fields: Any) -> JSON:
    messages = [user(prompt)] if isinstance(prompt, str) else list(prompt)
    offered = {"tools": list(tools)} if tools else {}
    return {"model": "demo-1", "messages": messages, **offered, **fields}


def request(prompt: str | Sequence[JSON], *tools: JSON, **fields: Any) -> ChatRequest:
    return read(json.dumps(body(prompt, *tools, **fields)).encode())


def ask(prompt: str | Sequence[JSON], *tools: JSON, **fields: Any) -> Answer:
    return answer(request(prompt, *tools, **fields))


def asked(prompt: str | Sequence[JSON], *tools: JSON, **fields: Any) -> list[tuple[str, JSON]]:
    """The calls that the model asks for."""
    return [(call.name, call.arguments) for call in ask(prompt, *tools, **fields).calls]


def complete(prompt: str | Sequence[JSON], *tools: JSON, **fields: Any) -> JSON:
    """The body of the answer."""
    asked_for = request(prompt, *tools, **fields)
    return completion(asked_for, answer(asked_for), 0)

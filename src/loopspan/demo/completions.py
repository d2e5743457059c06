"""An answer in the form of the API, whole and as the chunks of a stream, with its bill.

https://platform.openai.com/docs/api-reference/chat/object
https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from loopspan.demo.model import Answer
from loopspan.demo.requests import MODEL, ChatRequest, Message
from loopspan.demo.words import count, cut
from loopspan.jsontext import dump_text

Wire: TypeAlias = dict[str, Any]

FINGERPRINT = "demo"
_PER_MESSAGE = 3
"""Tokens that each message costs besides its text."""
_PIECE = 6
"""How many characters a chunk of a stream brings."""


class _Allowance:
    """The tokens that an answer may have; what is past them is cut."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit
        self.used = 0
        self.is_spent = False

    def take(self, text: str) -> str:
        size = count(text)
        if self._left is not None and size > self._left - self.used:
            text = cut(text, self._left - self.used)
            size = self._left - self.used
            self.is_spent = True
        self.used += size
        return text


def completion(request: ChatRequest, answer: Answer, created: int) -> Wire:
    """Return the body of an answer, cut to the tokens that the request allows."""
    allowance = _Allowance(request.limit)
    reasoning = allowance.take(answer.reasoning)
    thought = allowance.used
    message: Wire = {"role": "assistant", "content": allowance.take(answer.content)}
    message["refusal"] = None
    if reasoning:
        message["reasoning"] = reasoning
    key = _key(request)
    calls = []
    for number, call in enumerate(answer.calls):
        if allowance.is_spent or allowance.take(call.name) != call.name:
            break
        function = {"name": call.name, "arguments": allowance.take(dump_text(call.arguments))}
        calls.append({"id": f"call_{key}_{number}", "type": "function", "function": function})
    if calls:
        message["tool_calls"] = calls
        message["content"] = None
    reason = "length" if allowance.is_spent else answer.finish_reason
    return {
        "id": f"chatcmpl-{key}",
        "object": "chat.completion",
        "created": created,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": _usage(request, allowance.used, thought),
        "system_fingerprint": FINGERPRINT,
    }


def chunks(body: Wire, *, include_usage: bool) -> Iterator[Wire]:
    """Yield the chunks of a stream that come to this body."""
    head = {k: body[k] for k in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"
    if include_usage:
        head["usage"] = None
    [choice] = body["choices"]
    for delta in _deltas(choice["message"]):
        part = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        yield {**head, "choices": [part]}
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": choice["finish_reason"]}
    yield {**head, "choices": [last]}
    if include_usage:
        yield {**head, "choices": [], "usage": body["usage"]}


def _deltas(message: Wire) -> Iterator[Wire]:
    calls = message.get("tool_calls", ())
    yield {"role": "assistant", "content": None if calls else "", "refusal": None}
    for name in ("reasoning", "content"):
        for piece in _pieces(message.get(name) or ""):
            yield {name: piece}
    for index, call in enumerate(calls):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, **call, "function": function}]}
        for piece in _pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterable[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _key(request: ChatRequest) -> str:
    """Return a short text that is another for each dialogue, and the same for the same one."""
    text = request.model_dump_json(include={"messages", "tools", "tool_choice"})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _usage(request: ChatRequest, used: int, thought: int) -> Wire:
    """Return the counts; what stands before the last answer was sent before, and is cached."""
    messages = request.messages
    answers = [n for n, message in enumerate(messages) if message.role == "assistant"]
    tools = sum(count(function.model_dump_json()) for function in request.functions)
    sizes = [_size(message) for message in messages]
    prompt = tools + sum(sizes)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": used,
        "total_tokens": prompt + used,
        "prompt_tokens_details": {
            "cached_tokens": tools + sum(sizes[: answers[-1]]) if answers else 0
        },
        "completion_tokens_details": {"reasoning_tokens": thought},
        "cost": 0.0,
    }


def _size(message: Message) -> int:
    functions = (call.function for call in message.tool_calls or ())
    called = sum(count(f.name) + count(f.arguments) for f in functions if f is not None)
    return _PER_MESSAGE + count(message.text) + called

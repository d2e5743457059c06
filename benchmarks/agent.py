"""The scripted agent of the benchmarks: N rounds, one tool call each, 2 KB results."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator
from typing import Any

import httpx

RESULT = "".join(random.Random(1).choices(string.ascii_lowercase + " ", k=2000))  # noqa: S311
PROMPT = "Look everything up and tell me."


def answers(rounds: int) -> list[dict[str, Any]]:
    """Return the bodies that the model answers with: `rounds` calls, then the answer."""
    return [_body(number, number < rounds) for number in range(rounds + 1)]


def _body(number: int, asks: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": f"Round {number}."}
    if asks:
        function = {"name": "lookup", "arguments": json.dumps({"query": number})}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "model": "bench-1",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if asks else "stop"}
        ],
        "usage": {"prompt_tokens": 100 + number, "completion_tokens": 20, "cost": 0.001},
    }


def client(rounds: int) -> httpx.Client:
    """Return a client whose transport answers from memory, plain or streamed as it is asked."""
    bodies = answers(rounds)
    plain = [json.dumps(body).encode() for body in bodies]
    streamed = [b"".join(_events(body)) for body in bodies]
    position = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal position
        number, position = position, (position + 1) % (rounds + 1)
        if b'"stream":true' in request.content:
            headers = {"content-type": "text/event-stream"}
            return httpx.Response(200, headers=headers, content=streamed[number])
        return httpx.Response(
            200, headers={"content-type": "application/json"}, content=plain[number]
        )

    return httpx.Client(transport=httpx.MockTransport(answer))


def _events(body: dict[str, Any]) -> Iterator[bytes]:
    [choice] = body["choices"]
    head = {"id": body["id"], "model": body["model"], "object": "chat.completion.chunk"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in choice["message"]["content"].split(" ")]
    for call in choice["message"].get("tool_calls", ()):
        deltas.append({"tool_calls": [{"index": 0, **call}]})
    chunks = [{**head, "choices": [{"index": 0, "delta": d}]} for d in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks += [{**head, "choices": [end]}, {**head, "choices": [], "usage": body["usage"]}]
    for chunk in chunks:
        yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"

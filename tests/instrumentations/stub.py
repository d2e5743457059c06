"""What a server with OpenAI's API answers to a question that needs a tool: plain, and streamed."""

import json
from typing import Any

from tests.servers import Answer

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
}
SAID: tuple[dict[str, Any], ...] = ({"content": None, "tool_calls": [CALL]}, {"content": "Rain."})
REASONS = ("tool_calls", "stop")


def usage(index: int) -> dict[str, Any]:
    return {
        "prompt_tokens": 20 + index,
        "completion_tokens": 5 + index,
        "total_tokens": 25 + 2 * index,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def body(index: int, kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    told = {"id": f"c{index}", "object": kind, "created": 1, "model": "gpt-4o-2024-08-06"}
    return {**told, "choices": choices, **more}


def plain(index: int) -> Answer:
    message = {"role": "assistant", **SAID[index]}
    choice = {"index": 0, "message": message, "finish_reason": REASONS[index]}
    whole = body(index, "chat.completion", [choice], usage=usage(index))
    return Answer(200, "application/json", json.dumps(whole).encode())


def streamed(index: int) -> Answer:
    said = {key: value for key, value in SAID[index].items() if value is not None}
    if "tool_calls" in said:
        said["tool_calls"] = [{"index": 0, **CALL}]
    deltas: tuple[dict[str, Any], ...] = ({"role": "assistant", **said}, {})
    reasons = (None, REASONS[index])
    told = [
        [{"index": 0, "delta": delta, "finish_reason": reason}]
        for delta, reason in zip(deltas, reasons, strict=True)
    ]
    chunks = [body(index, "chat.completion.chunk", each) for each in told]
    chunks.append(body(index, "chat.completion.chunk", [], usage=usage(index)))
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Answer(200, "text/event-stream", text.encode())


PLAIN = (plain(0), plain(1))
STREAMED = (streamed(0), streamed(1))

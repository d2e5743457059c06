"""What each provider answers, plain and streamed: the least that shows thinking, text and calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

JSON: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says: its thinking, its text, and its calls as `(name, arguments)`."""

    text: str
    thinking: str = ""
    calls: tuple[tuple[str, JSON], ...] = ()


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire format: the body of an answer, the events of the same as a stream, its errors."""

    plain: Callable[[Said], JSON]
    events: Callable[[JSON], Iterable[JSON]]
    error: Callable[[str], JSON]
    lines: bool = False
    """Whether a stream is JSON lines instead of server-sent events."""

    def stream(self, events: Iterable[JSON]) -> bytes:
        """Return events as the body of a stream."""
        return b"".join(self.event(json.dumps(event, ensure_ascii=False)) for event in events)

    def event(self, data: str) -> bytes:
        """Return one event of a stream."""
        return f"{data}\n".encode() if self.lines else f"data: {data}\n\n".encode()


def _chat_call(number: int, name: str, arguments: JSON) -> JSON:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _chat(said: Said) -> JSON:
    message: JSON = {"role": "assistant", "content": said.text}
    if said.thinking:
        message |= {"reasoning": said.thinking, "reasoning_content": said.thinking}
    if said.calls:
        message["tool_calls"] = [_chat_call(n, *call) for n, call in enumerate(said.calls)]
    return _completion(message)


def _mistral(said: Said) -> JSON:
    answer = _chat(Said(said.text, "", said.calls))
    if said.thinking:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": said.thinking}]}
        message = answer["choices"][0]["message"]
        message["content"] = [thinking, {"type": "text", "text": said.text}]
    return answer


def _completion(message: JSON) -> JSON:
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "1",
        "model": "sweep-1",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5},
    }


def _chat_events(answer: JSON) -> Iterator[JSON]:
    [choice] = answer["choices"]
    calls = choice["message"].get("tool_calls", ())
    delta = {**choice["message"], "tool_calls": [{"index": n, **c} for n, c in enumerate(calls)]}
    head = {"id": "1", "model": "sweep-1"}
    yield {**head, "choices": [{"index": 0, "delta": delta}]}
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield {**head, "choices": [end], "usage": answer["usage"]}


def _responses(said: Said) -> JSON:
    content = [{"type": "output_text", "text": said.text, "annotations": []}]
    output: list[JSON] = [
        {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    ]
    if said.thinking:
        summary = [{"type": "summary_text", "text": said.thinking}]
        output.insert(0, {"type": "reasoning", "id": "rs_1", "summary": summary})
    for number, (name, arguments) in enumerate(said.calls):
        call = {"call_id": f"call_{number}", "name": name, "arguments": json.dumps(arguments)}
        output.append({"type": "function_call", "id": f"fc_{number}", **call})
    return {
        "id": "resp_1",
        "model": "sweep-1",
        "status": "completed",
        "output": output,
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }


def _responses_events(answer: JSON) -> Iterator[JSON]:
    opened = {**answer, "output": [], "status": "in_progress"}
    yield {"type": "response.created", "response": opened}
    for index, item in enumerate(answer["output"]):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": answer}


def _anthropic(said: Said) -> JSON:
    content: list[JSON] = []
    if said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking, "signature": "s"})
    content.append({"type": "text", "text": said.text})
    for number, (name, arguments) in enumerate(said.calls):
        content.append(
            {"type": "tool_use", "id": f"call_{number}", "name": name, "input": arguments}
        )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "sweep-1",
        "content": content,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }


def _anthropic_events(answer: JSON) -> Iterator[JSON]:
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    empty: JSON
    for index, block in enumerate(answer["content"]):
        match block["type"]:
            case "text":
                empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
            case "thinking":
                empty = {"thinking": "", "signature": ""}
                delta = {"type": "thinking_delta", "thinking": block["thinking"]}
            case _:
                empty = {"input": {}}
                given = json.dumps(block["input"])
                delta = {"type": "input_json_delta", "partial_json": given}
        at = {"index": index}
        yield {"type": "content_block_start", **at, "content_block": {**block, **empty}}
        yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    end = {"stop_reason": answer["stop_reason"]}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _gemini(said: Said) -> JSON:
    parts: list[JSON] = [{"text": said.text}]
    if said.thinking:
        parts.insert(0, {"text": said.thinking, "thought": True})
    for number, (name, arguments) in enumerate(said.calls):
        parts.append({"functionCall": {"id": f"call_{number}", "name": name, "args": arguments}})
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"index": 0, "finishReason": "STOP", "content": content}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5},
    }


def _ollama(said: Said) -> JSON:
    message: JSON = {"role": "assistant", "content": said.text}
    if said.thinking:
        message["thinking"] = said.thinking
    if said.calls:
        functions = [{"name": name, "arguments": arguments} for name, arguments in said.calls]
        message["tool_calls"] = [{"function": function} for function in functions]
    counts = {"prompt_eval_count": 9, "eval_count": 5}
    return {"model": "sweep-1", "message": message, "done": True, "done_reason": "stop", **counts}


def _ollama_events(answer: JSON) -> Iterator[JSON]:
    yield {"model": "sweep-1", "message": answer["message"], "done": False}
    yield {**answer, "message": {"role": "assistant", "content": ""}}


def _error(text: str) -> JSON:
    return {"error": {"message": text, "type": "invalid_request_error", "code": "bad"}}


def _anthropic_error(text: str) -> JSON:
    return {"type": "error", "error": {"type": "overloaded_error", "message": text}}


def _gemini_error(text: str) -> JSON:
    return {"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}


def _responses_error(text: str) -> JSON:
    return {**_error(text), "type": "error", "code": "server_error", "message": text}


CHAT = Wire(_chat, _chat_events, _error)

WIRES: Mapping[str, Wire] = {
    "openai": CHAT,
    "openai-responses": Wire(_responses, _responses_events, _responses_error),
    "anthropic": Wire(_anthropic, _anthropic_events, _anthropic_error),
    "gemini": Wire(_gemini, lambda answer: [answer], _gemini_error),
    "groq": CHAT,
    "mistral": Wire(_mistral, _chat_events, _error),
    "ollama": Wire(_ollama, _ollama_events, lambda text: {"error": text}, lines=True),
    "openrouter": CHAT,
}

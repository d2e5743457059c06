"""The same agent written by hand: a bare httpx loop, untraced and with spans of the SDK.

The spans carry what people write by hand: the whole list of messages on each round, as one JSON
text, with the conventions' names.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
from opentelemetry import trace

from benchmarks.agent import PROMPT, RESULT

URL = "http://bench.invalid/v1/chat/completions"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "lookup",
            "description": "Look something up.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "integer"}},
                "required": ["query"],
                "additionalProperties": False,
            },
        },
    }
]


def ask(client: httpx.Client, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Send one request and return the body of the answer."""
    body = {"model": "bench-1", "messages": messages, "tools": TOOLS}
    response = client.post(URL, json=body)
    answer: dict[str, Any] = response.json()
    return answer


def ask_streamed(client: httpx.Client, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Send one request and put the answer together from its stream."""
    body = {
        "model": "bench-1",
        "messages": messages,
        "tools": TOOLS,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    answer: dict[str, Any] = {"choices": [{"message": message}]}
    with client.stream("POST", URL, json=body) as response:
        for line in response.iter_lines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            chunk = json.loads(line[6:])
            answer |= {k: chunk[k] for k in ("id", "model", "usage") if k in chunk}
            for choice in chunk["choices"]:
                message["content"] += choice["delta"].get("content") or ""
                for call in choice["delta"].get("tool_calls", ()):
                    message.setdefault("tool_calls", []).append(
                        {k: call[k] for k in ("id", "type", "function")}
                    )
                if choice.get("finish_reason"):
                    answer["choices"][0]["finish_reason"] = choice["finish_reason"]
    return answer


def untraced(client: httpx.Client, streamed: bool = False) -> str:
    """Run the agent."""
    send = ask_streamed if streamed else ask
    messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]
    while True:
        message = send(client, messages)["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            json.loads(call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": RESULT})


def traced(client: httpx.Client, tracer: trace.Tracer, content: bool, streamed: bool) -> str:
    """Run the agent with a span for the run, each round and each call."""
    send = ask_streamed if streamed else ask
    messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]
    with tracer.start_as_current_span("invoke_agent bench") as run:
        run.set_attribute("gen_ai.operation.name", "invoke_agent")
        run.set_attribute("gen_ai.agent.name", "bench")
        while True:
            with tracer.start_as_current_span("chat bench-1", kind=trace.SpanKind.CLIENT) as span:
                span.set_attribute("gen_ai.operation.name", "chat")
                span.set_attribute("gen_ai.provider.name", "openai")
                span.set_attribute("gen_ai.request.model", "bench-1")
                span.set_attribute("server.address", "bench.invalid")
                if content:
                    span.set_attribute("gen_ai.input.messages", json.dumps(_parts(messages)))
                    span.set_attribute("gen_ai.tool.definitions", json.dumps(TOOLS))
                answer = send(client, messages)
                [choice] = answer["choices"]
                message = choice["message"]
                span.set_attribute("gen_ai.response.id", answer["id"])
                span.set_attribute("gen_ai.response.model", answer["model"])
                span.set_attribute("gen_ai.response.finish_reasons", [choice["finish_reason"]])
                span.set_attribute("gen_ai.usage.input_tokens", answer["usage"]["prompt_tokens"])
                span.set_attribute(
                    "gen_ai.usage.output_tokens", answer["usage"]["completion_tokens"]
                )
                if content:
                    span.set_attribute("gen_ai.output.messages", json.dumps(_parts([message])))
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                with tracer.start_as_current_span("execute_tool lookup") as tool:
                    tool.set_attribute("gen_ai.operation.name", "execute_tool")
                    tool.set_attribute("gen_ai.tool.name", "lookup")
                    tool.set_attribute("gen_ai.tool.call.id", call["id"])
                    if content:
                        tool.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))
                        tool.set_attribute("gen_ai.tool.call.result", json.dumps(RESULT))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": RESULT})


def _parts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "role": m["role"],
            "parts": [
                {"type": "text", "content": m["content"]},
                *(
                    {"type": "tool_call", "id": c["id"], **c["function"]}
                    for c in m.get("tool_calls", ())
                ),
            ],
        }
        for m in messages
    ]

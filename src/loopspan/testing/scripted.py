"""A model that gives prepared answers, over real HTTP messages without a network."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx

from loopspan.jsontext import load
from loopspan.providers.model import Model
from loopspan.providers.openai import OpenAI

JSON: TypeAlias = dict[str, Any]
Answer: TypeAlias = str | JSON | Exception | httpx.Response | Callable[[JSON], "Answer"]
"""A text, the body of a `chat.completion` message, an error to raise, a response, or a function
of the request's body that gives one of them."""


def calls(name: str, /, *, id: str | None = None, **arguments: Any) -> JSON:
    """Return an answer that asks for one call; put several into `message(tool_calls=…)`."""
    return message(tool_calls=[(name, arguments) if id is None else (name, arguments, id)])


_ids = itertools.count(1)


def message(
    content: str | None = None,
    *,
    tool_calls: Iterable[tuple[Any, ...]] = (),
    finish_reason: str | None = None,
    usage: Mapping[str, Any] | None = None,
    **fields: Any,
) -> JSON:
    """Return an answer; each tool call is `(name, arguments)` or `(name, arguments, id)`."""
    asked = [
        {
            "id": rest[0] if rest else f"call_{next(_ids)}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for name, arguments, *rest in tool_calls
    ]
    said: JSON = {"role": "assistant", "content": content, **fields}
    if asked:
        said["tool_calls"] = asked
    answer: JSON = {
        "message": said,
        "finish_reason": finish_reason or ("tool_calls" if asked else "stop"),
    }
    return answer if usage is None else {**answer, "usage": dict(usage)}


@dataclass
class ScriptedModel:
    """A model that gives these answers in order, over real HTTP messages without a network.

    It speaks the chat-completions format, plain and streamed, through `client` and
    `async_client`; `requests` holds the bodies it received. Past the last answer it fails.
    """

    answers: Sequence[Answer]
    name: str = "scripted-1"
    requests: list[JSON] = field(default_factory=list)
    wire: list[bytes] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self._next = iter(self.answers)
        self.model = Model(OpenAI(), self.name, "http://scripted.invalid/v1")
        self.client = httpx.Client(transport=httpx.MockTransport(self._answer))
        self.async_client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = load(request.content)
        self.requests.append(body)
        self.wire.append(request.content)
        answer = next(self._next, None)
        if answer is None:
            raise AssertionError(
                f"the script has {len(self.answers)} answers, and one more is asked"
            )
        while callable(answer) and not isinstance(answer, httpx.Response):
            answer = answer(body)
        match answer:
            case Exception():
                raise answer
            case httpx.Response():
                return answer
            case str():
                answer = message(answer)
        completion = self._completion(answer, len(self.requests))
        if body.get("stream"):
            return httpx.Response(
                200, headers={"content-type": "text/event-stream"}, content=_sse(completion)
            )
        return httpx.Response(
            200, headers={"content-type": "application/json"}, content=_json(completion)
        )

    def _completion(self, answer: JSON, number: int) -> JSON:
        usage = answer.get("usage", {"prompt_tokens": 10 * number, "completion_tokens": 5})
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": self.name,
            "choices": [
                {"index": 0, "message": answer["message"], "finish_reason": answer["finish_reason"]}
            ],
            **({"usage": usage} if usage else {}),
        }


def _sse(completion: JSON) -> bytes:
    """Return a completion as the stream that a server would have sent."""
    head = {k: completion[k] for k in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    [choice] = completion["choices"]
    said = dict(choice["message"])
    content = said.pop("content") or ""
    asked = [{"index": i, **call} for i, call in enumerate(said.pop("tool_calls", ()))]
    deltas: list[JSON] = [{**said, "content": ""}]
    deltas += [{"content": content[i : i + 8]} for i in range(0, len(content), 8)]
    deltas += [{"tool_calls": [call]} for call in asked]
    events = [
        {**head, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    events.append({**head, "choices": [end]})
    if "usage" in completion:
        events.append({**head, "choices": [], "usage": completion["usage"]})
    return b"".join(b"data: " + _json(event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def _json(value: JSON) -> bytes:
    """Return JSON as servers write it, odd values (NaN, lone surrogates) included."""
    return json.dumps(value).encode()

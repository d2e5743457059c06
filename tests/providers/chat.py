"""What the tests of the chat-completions family share: adapters, recordings, made-up traffic."""

import functools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import strategies as st

from loopspan.messages import Message, Parameters, Part, Reasoning, Request
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.groq import Groq
from loopspan.providers.mistral import Mistral
from loopspan.providers.openai import OpenAI
from loopspan.providers.openrouter import OpenRouter
from tests.corpus import Exchange
from tests.providers import strategies as s

ADAPTERS: tuple[ChatCompletions, ...] = (OpenAI(), Groq(), Mistral(), OpenRouter())
each_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda a: a.name)
FOLDERS = ("openai", "groq", "mistral", "openrouter", "openai-compat")


def adapter_of(exchange: Exchange) -> ChatCompletions:
    """The adapter that reads a recording; other servers than the four speak OpenAI's format."""
    folder = exchange.id.partition("/")[0]
    if "//openrouter.ai/" in exchange.url:
        return OpenRouter()
    return next((adapter for adapter in ADAPTERS if adapter.name == folder), OpenAI())


def is_chat(exchange: Exchange) -> bool:
    """Whether this is the chat-completions API; the folders hold some of the Responses API too."""
    return exchange.url.partition("?")[0].partition("#")[0].endswith("/chat/completions")


def sse(chunks: Iterable[Any], *, done: bool = True) -> bytes:
    """The bytes of a stream of these chunks."""
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n" if done else ""]).encode()


def delta(finish: str | None = None, *, index: int = 0, **fields: Any) -> dict[str, Any]:
    """A chunk with one delta."""
    choice = {"index": index, "delta": fields, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m1", "choices": [choice]}


def call_delta(index: int | None, **fields: Any) -> dict[str, Any]:
    """A delta of a call: `id`, and `name` and `arguments` of its function."""
    function = {k: v for k, v in fields.items() if k in ("name", "arguments")}
    call: dict[str, Any] = {k: v for k, v in fields.items() if k not in function}
    if index is not None:
        call["index"] = index
    return {**call, "function": function}


def plain(*, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """The body of an unstreamed answer."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion", "model": "m1", "choices": [choice]}


def chunks_of(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The stream that a server would have sent instead of this body."""
    head = {k: v for k, v in body.items() if k not in ("choices", "usage", "object")}
    head["object"] = "chat.completion.chunk"

    def chunk(choice: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
        ends = {
            k: v if finish else None
            for k, v in choice.items()
            if k not in ("index", "message", "finish_reason")
        }
        part = {"index": choice["index"], "delta": fields, "finish_reason": finish, **ends}
        return {**head, "choices": [part]}

    for choice in body["choices"]:
        message = choice.get("message") or {}
        yield chunk(choice, role=message.get("role", "assistant"), content="")
        for key, value in message.items():
            if key == "tool_calls":
                for index, call in enumerate(value or ()):
                    yield from (
                        chunk(choice, tool_calls=[piece]) for piece in _call_pieces(index, call)
                    )
            elif key != "role":
                pieces = _pieces(value) if isinstance(value, str) else [value]
                yield from (chunk(choice, **{key: piece}) for piece in pieces)
        yield chunk(choice, choice.get("finish_reason"))
    yield {**head, "choices": [], "usage": body.get("usage")}


def _call_pieces(index: int, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    arguments = call["function"].get("arguments")
    first = {"name": call["function"]["name"], "arguments": "" if arguments else arguments}
    yield {**call, "index": index, "function": first}
    for piece in _pieces(arguments or ""):
        yield {"index": index, "function": {"arguments": piece}}


def _pieces(text: str) -> list[str]:
    return [text[i : i + 7] for i in range(0, len(text), 7)]


@functools.cache
def requests(adapter: ChatCompletions) -> st.SearchStrategy[Request]:
    """Requests that this adapter's format can express."""
    urls = [
        s.blobs(modality, "image/png", "video/mp4", "application/pdf") | s.uris(modality)
        for modality in adapter.url_parts
    ]
    spoken = s.text_parts() | st.one_of(*urls)
    if "audio" in adapter.media:
        spoken |= s.blobs("audio", "audio/wav", "audio/mpeg")
    if "document" in adapter.media:
        spoken |= s.files("document")
    if "document" in adapter.media and "document" not in adapter.url_parts:
        spoken |= s.blobs("document", "application/pdf", "text/plain")
    dialogue = s.dialogues(
        s.messages("system", s.text_parts()),
        s.messages("developer", s.text_parts()),
        s.messages("user", spoken),
        answers(adapter),
        s.messages("tool", s.tool_results(), max_size=1),
    )
    extra = st.fixed_dictionaries({}, optional={"user": s.texts, "response_format": s.objects})
    return s.requests(dialogue, s.parameters(*adapter.settings, extra=extra))


def answers(adapter: ChatCompletions) -> st.SearchStrategy[Message]:
    """Messages of a model: thinking, text, calls, each or none of them."""
    return st.builds(
        lambda thinking, said, calls: Message("assistant", (*thinking, *said, *calls)),
        st.lists(s.words.map(lambda text: thought(adapter, text)), max_size=1),
        st.lists(s.text_parts(), max_size=2),
        st.lists(s.tool_calls(arguments=s.objects | s.words), max_size=2),
    ).filter(lambda message: bool(message.text or message.tool_calls))


def thought(adapter: ChatCompletions, text: str) -> Reasoning:
    """Thinking as this adapter reads it from an answer."""
    own: dict[str, Any] = {"part": {}}
    if adapter.reasoning_fields:
        own = {"fields": [adapter.reasoning_fields[0]]}
    return Reasoning(text, extra={adapter.name: own})


def ask(*messages: Message, **fields: Any) -> Request:
    """A request for these messages."""
    return Request("m1", messages, **fields)


def with_extra(**extra: Any) -> Parameters:
    """Settings that hold only fields of the provider's own."""
    return Parameters(extra=extra)


def wire(*messages: Message, adapter: ChatCompletions | None = None) -> list[Any]:
    """The messages as they are sent."""
    sent: list[Any] = (adapter or OpenAI()).body(ask(*messages))["messages"]
    return sent


def parts(adapter: ChatCompletions | None = None, **message: Any) -> tuple[Part, ...]:
    """The parts of an answer."""
    return (adapter or OpenAI()).reply(plain(**message)).message.parts


def again(*messages: dict[str, Any]) -> list[Any]:
    """Wire messages, read and written again."""
    return wire(*OpenAI().request({"model": "m", "messages": list(messages)}).messages)


RICH: dict[str, Any] = {
    **plain(
        content="Hello there",
        reasoning="Hm, so",
        tool_calls=[
            call_delta(None, id="abcdefgh1", type="function", name="f", arguments='{"a": 1}'),
            call_delta(None, id="abcdefgh2", type="function", name="g", arguments=""),
        ],
        annotations=[{"type": "url_citation", "url_citation": {"url": "https://example.org"}}],
        finish="tool_calls",
    ),
    "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
        "cost": 0.5,
    },
}
MORE: dict[str, Any] = plain(
    content=[
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
        {"type": "text", "text": "Hi", "annotations": []},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ],
    reasoning_details=[{"type": "reasoning.text", "text": "Hm", "index": 0, "signature": "s"}],
    images=[{"type": "image_url", "image_url": {"url": "https://example.org/1.png"}}],
    refusal="No.",
    audio={"id": "a1", "data": "AAAA", "transcript": "Hi", "expires_at": 1},
    function_call={"name": "f", "arguments": "{}"},
)

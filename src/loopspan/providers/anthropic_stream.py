"""Streams of the Anthropic Messages API, assembled into the message that they spell out.

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from loopspan.jsontext import load
from loopspan.messages import Reasoning, Text
from loopspan.providers.adapter import Delta, StreamState


def take(state: StreamState, data: Mapping[str, Any]) -> Iterator[Delta]:
    """Put one event into `state.body`; kinds that are not known are passed over, as `ping` is."""
    match data.get("type"):
        case "message_start":
            _start(state, data["message"])
        case "content_block_start":
            yield from _open(state, data["index"], dict(data["content_block"]))
        case "content_block_delta":
            yield from _extend(state, data["index"], data["delta"])
        case "content_block_stop":
            _close(state, data["index"])
        case "message_delta":
            _conclude(state, data)
        case "message_stop":
            usage = {**state.scratch.get("provisional", {}), **state.body.get("usage", {})}
            state.body["usage"] = usage
            state.ended = True


def _start(state: StreamState, message: Mapping[str, Any]) -> None:
    state.body.update(message)
    state.body["content"] = list(message.get("content") or ())
    usage = _known(message.get("usage"))
    # The first event cannot know the length of the answer, and gateways write 0 for an input
    # that they do not know yet: such counts stand only if the stream brings no others.
    provisional = ["output_tokens"]
    cached = usage.get("cache_read_input_tokens") or usage.get("cache_creation_input_tokens")
    if not usage.get("input_tokens") and not cached:
        provisional.append("input_tokens")
    state.scratch["provisional"] = {key: usage.pop(key) for key in provisional if key in usage}
    state.body["usage"] = usage


def _open(state: StreamState, index: int, block: dict[str, Any]) -> Iterator[Delta]:
    state.body.setdefault("content", []).append(block)
    state.scratch.setdefault("blocks", {})[index] = block
    yield from _shown(block)


def _extend(state: StreamState, index: int, delta: Mapping[str, Any]) -> Iterator[Delta]:
    block: dict[str, Any] = state.scratch["blocks"][index]
    match delta["type"]:
        case "text_delta":
            block["text"] = (block.get("text") or "") + delta["text"]
        case "thinking_delta":
            block["thinking"] = (block.get("thinking") or "") + delta["thinking"]
        case "input_json_delta":
            _add_input(state, index, block, delta["partial_json"])
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        case _:  # `signature_delta` and such as are not known bring whole fields
            block.update(_known(delta, "type"))
    yield from _shown(delta)


def _shown(fields: Mapping[str, Any]) -> Iterator[Delta]:
    match fields:
        case {"type": "text" | "text_delta", "text": str(text)} if text:
            yield Text(text)
        case {"type": "thinking" | "thinking_delta", "thinking": str(text)} if text:
            yield Reasoning(text)


def _add_input(state: StreamState, index: int, block: dict[str, Any], text: str) -> None:
    texts: dict[int, str] = state.scratch.setdefault("inputs", {})
    texts[index] = texts.get(index, "") + text
    # Until it is whole the input is its text, so that a broken stream has no call in it that
    # looks whole. A tool without arguments sends an empty text and keeps the `{}` of its start.
    if texts[index]:
        block["input"] = texts[index]


def _close(state: StreamState, index: int) -> None:
    if text := state.scratch.get("inputs", {}).get(index):
        with suppress(ValueError):  # cut by max_tokens
            state.scratch["blocks"][index]["input"] = load(text)


def _conclude(state: StreamState, data: Mapping[str, Any]) -> None:
    """Take what ends a message; its counts are totals and replace the earlier ones."""
    state.body.update(_known({**data["delta"]}))
    state.body.update(_known(data, "type", "delta", "usage"))
    state.body["usage"] = {**state.body.get("usage", {}), **_known(data.get("usage"))}


def _known(fields: Any, *without: str) -> dict[str, Any]:
    items = fields.items() if isinstance(fields, Mapping) else ()
    return {key: value for key, value in items if value is not None and key not in without}

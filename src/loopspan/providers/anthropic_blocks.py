"""Content blocks of the Anthropic Messages API, to and from the parts of a message.

https://platform.claude.com/docs/en/api/messages

What a block holds besides the values that a part has names for (signatures, `cache_control`,
`citations`, `caller`) is kept in the part's extra and sent again; a field that is null counts as
absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, assert_never

from loopspan.errors import UnsupportedContent
from loopspan.jsontext import dump_text, load
from loopspan.messages import (
    Blob,
    Extra,
    File,
    Generic,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallResponse,
    Uri,
)

NAME = "anthropic"

INVALID = "INVALID_JSON"
"""The key under which arguments that are no JSON object are sent, for `input` must be one.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
"""


def read_parts(content: Any) -> tuple[Part, ...]:
    """Return the parts of a message's content; a string is short for one text block."""
    match content:
        case None:
            return ()
        case str():
            return (Text(content),)
        case list():
            return tuple(read_part(block) for block in content)
        case _:
            raise TypeError(f"content must be text or a list, got {type(content).__name__}")


def read_part(block: Mapping[str, Any]) -> Part:
    """Return the part of one block; a block of an unknown kind or shape becomes `Generic`."""
    kind = string(block["type"])
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text, extra=extra(block, "type", "text"))
        case {"type": "thinking", "thinking": str(thinking)}:
            return Reasoning(thinking, extra=extra(block, "thinking"))
        case {"type": "redacted_thinking", "data": str()}:
            return Reasoning("", extra=extra(block))
        case {"type": "tool_use", "name": str(name)}:
            kept = extra(block, "type", "id", "name", "input")
            return ToolCall(name, _arguments(block.get("input")), _id(block, "id"), extra=kept)
        case {"type": "tool_result"}:
            return _read_result(block)
        case {"type": "image" | "document", "source": Mapping() as source}:
            if media := _read_media(kind, source, extra(block, "type", "source")):
                return media
    return Generic(kind, block, extra={NAME: {"type": kind}})


def extra(fields: Mapping[str, Any], *named: str) -> Extra:
    """Return what a wire object holds besides its named fields, as the `extra` of a value."""
    rest = {key: value for key, value in fields.items() if key not in named and value is not None}
    return {NAME: rest} if rest else {}


def string(value: Any) -> str:
    """Return the value if it is text; raises `TypeError` if not."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def string_or_none(value: Any) -> str | None:
    """Return the value if it is text."""
    return value if isinstance(value, str) else None


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether the value is a number; JSON's booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _id(block: Mapping[str, Any], key: str) -> str | None:
    return None if block.get(key) is None else string(block[key])


def _arguments(value: Any) -> Any:
    match value:
        case None | "":
            return {}
        case {"INVALID_JSON": str(raw)} if len(value) == 1:
            return raw
        case str():  # a stream that was cut, or a server that writes JSON text
            try:
                return load(value)
            except ValueError:
                return value
        case _:
            return value


def _read_result(block: Mapping[str, Any]) -> ToolCallResponse:
    kept = extra(block, "type", "tool_use_id", "content", "is_error")
    content = block.get("content")
    response = content
    if isinstance(content, list):
        # The text is what people read; the blocks are what goes back.
        kept = {NAME: {**kept.get(NAME, {}), "content": content}}
        texts = [item.get("text") for item in content if item["type"] == "text"]
        if texts and len(texts) == len(content):
            response = "\n".join(texts)
    failed = block.get("is_error")
    return ToolCallResponse(
        response,
        _id(block, "tool_use_id"),
        is_error=failed if isinstance(failed, bool) else None,
        extra=kept,
    )


def _read_media(modality: str, source: Mapping[str, Any], kept: Extra) -> Part | None:
    # A source with fields that the part has no names for stays as it is.
    match source:
        case {"type": "base64", "media_type": str(mime), "data": str(data), **rest} if not rest:
            return Blob(modality, data, mime, extra=kept)
        case {"type": "url", "url": str(url), **rest} if not (rest or url.startswith("data:")):
            return Uri(modality, url, extra=kept)
        case {"type": "file", "file_id": str(file_id), **rest} if not rest:
            return File(modality, file_id, extra=kept)
    return None


def write_blocks(parts: Iterable[Part], role: str) -> list[dict[str, Any]]:
    """Return the blocks of a message.

    Left out is what only another provider understands of an answer, and empty text: the API
    gives it and refuses it (https://github.com/anthropics/anthropic-sdk-python/issues/461).
    """
    written = (write_block(p) for p in parts if not (role == "assistant" and _is_foreign(p)))
    return [block for block in written if block is not None]


def _is_foreign(part: Part) -> bool:
    return isinstance(part, Generic) and bool(part.extra) and not part.own(NAME)


def write_block(part: Part) -> dict[str, Any] | None:
    """Return the block of one part, or `None` where there is nothing to send of it."""
    own = part.own(NAME)
    match part:
        case Text():
            return {"type": "text", "text": part.content, **own} if part.content else None
        case Reasoning():
            # https://platform.claude.com/docs/en/build-with-claude/extended-thinking: thinking
            # goes back exactly as it came, and only what Claude signed is thinking.
            if own.get("type") == "thinking":
                return {"thinking": part.content, **own}
            return dict(own) if own.get("type") == "redacted_thinking" else None
        case ToolCall():
            known = {"id": _named(part), "name": part.name, "input": _input(part.arguments)}
            return {"type": "tool_use", **known, **own}
        case ToolCallResponse():
            return _write_result(part, own)
        case Blob() | Uri() | File():
            return _write_media(part, own)
        case Generic():
            if _is_foreign(part) or not isinstance(part.body, Mapping):
                raise UnsupportedContent(
                    f"a part of type {part.type!r} is no content block of this API; "
                    "give its block as `body`"
                )
            return {"type": part.type, **part.body}
        case _:
            assert_never(part)


def _named(part: ToolCall | ToolCallResponse) -> str:
    if part.id is None:
        raise UnsupportedContent(
            f"a {part.type} without id cannot be sent; give calls and their results the same id"
        )
    return part.id


def _input(arguments: Any) -> dict[str, Any]:
    match arguments:
        case None | "":
            return {}
        case Mapping():
            return dict(arguments)
        case str():
            return {INVALID: arguments}
        case _:
            return {INVALID: dump_text(arguments)}


def _write_result(part: ToolCallResponse, own: Mapping[str, Any]) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": _named(part)}
    if part.response is not None:
        response = part.response
        block["content"] = response if isinstance(response, str) else dump_text(response)
    if part.is_error is not None:
        block["is_error"] = part.is_error
    return {**block, **own}


def _write_media(part: Blob | Uri | File, own: Mapping[str, Any]) -> dict[str, Any]:
    """https://platform.claude.com/docs/en/build-with-claude/vision, .../pdf-support, .../files"""
    if part.modality not in ("image", "document"):
        raise UnsupportedContent(
            f"{part.modality!r} cannot be sent; the API takes images and documents"
        )
    match part:
        case Blob(mime_type=None):
            raise UnsupportedContent(
                f"a blob needs its mime_type, such as 'image/png': {part!r:.80}"
            )
        case Blob():
            source = {"type": "base64", "media_type": part.mime_type, "data": part.content}
        case Uri():
            source = {"type": "url", "url": part.uri}
        case File():
            source = {"type": "file", "file_id": part.file_id}
        case _:
            assert_never(part)
    return {"type": part.modality, "source": source, **own}

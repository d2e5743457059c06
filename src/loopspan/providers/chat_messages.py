"""Messages of the chat-completions format, in both directions.

Whatever a message held that has no name of ours goes back as it came: thinking by the field that
it was in (`fields`, `details`), arguments by their text, unknown fields as `Generic` parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from loopspan.errors import UnsupportedContent
from loopspan.messages import (
    Blob,
    File,
    Generic,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallResponse,
    Uri,
)
from loopspan.providers.chat_calls import ChatCalls
from loopspan.providers.chat_parts import ChatParts
from loopspan.providers.thinking import inline, split

_KNOWN = frozenset(
    (
        "role",
        "content",
        "name",
        "tool_calls",
        "function_call",
        "refusal",
        "audio",
        "reasoning_details",
    )
)


class ChatMessages(ChatParts, ChatCalls):
    """How messages look on the wire."""

    reasoning_fields: ClassVar[tuple[str, ...]] = ("reasoning_content", "reasoning")
    """The fields of a message that hold thinking; which of them depends on the server."""
    returned_fields: ClassVar[frozenset[str]] = frozenset()
    """Further fields of an answer that the API wants to see again."""

    def _write_message(self, message: Message) -> tuple[dict[str, Any], ...]:
        """Return the wire messages of one message; each tool result is one of its own."""
        results = [self._write_result(message.role, part) for part in _results(message)]
        rest = [part for part in message.parts if not isinstance(part, ToolCallResponse)]
        if results and not rest:
            return tuple(results)
        role = "user" if results and message.role == "tool" else message.role
        wire: dict[str, Any] = {"role": role}
        content: list[str | dict[str, Any]] = []
        before = ""
        for part in rest:
            if isinstance(part, Reasoning) and (text := inline(part, self.name)) is not None:
                before += text
            else:
                self._put(part, role, wire, content)
        _put_content(before, content, wire)
        if message.name is not None:
            wire["name"] = message.name
        return (*results, wire)

    def _put(
        self, part: Part, role: str, wire: dict[str, Any], content: list[str | dict[str, Any]]
    ) -> None:
        """Put one part into the fields of a message or into its content."""
        own = part.own(self.name)
        match part:
            case ToolCall():
                self._put_call(part, wire)
            case Reasoning():
                self._put_reasoning(part, wire, content)
            case Text() if self.name not in part.extra:
                content.append(part.content)
            case Text() if own.get("field") == "refusal":
                wire["refusal"] = part.content
            case Text() | Blob() | File() if own.get("field") == "audio":
                if "id" in own:
                    wire["audio"] = {"id": own["id"]}
            case Generic():
                self._put_generic(part, role, wire, content)
            case Text() | Blob() | Uri() | File():
                content.append(self._write_part(part))

    def _put_reasoning(
        self, part: Reasoning, wire: dict[str, Any], content: list[str | dict[str, Any]]
    ) -> None:
        """Put thinking back where it came from; thinking of other providers is left out."""
        own = part.own(self.name)
        for name in own.get("fields", ()):
            wire[name] = wire.get(name, "") + part.content
        if "details" in own:
            wire["reasoning_details"] = [*wire.get("reasoning_details", ()), *own["details"]]

    def _put_generic(
        self, part: Generic, role: str, wire: dict[str, Any], content: list[str | dict[str, Any]]
    ) -> None:
        own = part.extra.get(self.name)
        if own is None:
            if role == "assistant":  # another provider's detail of an answer
                return
            raise UnsupportedContent(
                f"{self.name} does not know a part of type {part.type!r};"
                " send it as a Text, Blob or Uri part, or leave it out"
            )
        if own.get("field"):
            wire[part.type] = part.body
        elif own.get("call"):
            wire.setdefault("tool_calls", []).append(part.body)
        else:
            content.append(part.body)

    def _read_message(self, wire: Mapping[str, Any], *, sent: bool) -> Message:
        """Return a message that was sent, or one that was answered.

        An answer is read without what says nothing (empty text, indexes of calls), so that a
        stream and a plain answer read the same.
        """
        role = str(wire["role"]) if sent else "assistant"
        if sent and role in ("tool", "function"):
            return Message(role, (self._read_result(wire),))
        parts = [
            *self._read_reasoning(wire, sent),
            *self._read_content(wire.get("content"), role, sent),
            *self._read_fields(wire, sent),
            *self._read_calls(wire, sent),
        ]
        name = wire.get("name")
        return Message(role, tuple(parts), name if isinstance(name, str) else None)

    def _read_reasoning(self, wire: Mapping[str, Any], sent: bool) -> Iterator[Reasoning]:
        by_text: dict[str, list[str]] = {}  # servers that know both fields fill both alike
        for name in self.reasoning_fields:
            text = wire.get(name)
            if isinstance(text, str) and (text or sent):
                by_text.setdefault(text, []).append(name)
        details = wire.get("reasoning_details")
        kept = {"details": details} if isinstance(details, list) and (details or sent) else {}
        for text, names in by_text.items():
            yield Reasoning(text, extra={self.name: {"fields": names, **kept}})
            kept = {}
        if kept:
            yield Reasoning(_text_of(details), extra={self.name: kept})

    def _read_content(self, content: Any, role: str, sent: bool) -> list[Part]:
        match content:
            case None:
                return []
            case str():
                if role == "assistant":
                    parts: list[Part] = [*split(content, self.name)]
                    if not sent or any(isinstance(part, Reasoning) for part in parts):
                        return parts
                return [Text(content)] if content or sent else []
            case list():
                parts = [self._read_part(part) for part in content]
                if len(parts) == 1 and isinstance(parts[0], Text) and not parts[0].extra:
                    return [Text(parts[0].content, extra={self.name: {}})]
                return parts
        raise TypeError(f"content is {type(content).__name__}")

    def _read_fields(self, wire: Mapping[str, Any], sent: bool) -> Iterator[Part]:
        refusal = wire.get("refusal")
        if isinstance(refusal, str) and (refusal or sent):
            yield Text(refusal, extra={self.name: {"field": "refusal"}})
        if isinstance(audio := wire.get("audio"), Mapping):
            yield from self._read_spoken(audio)
        for key, value in wire.items():
            if key in _KNOWN or key in self.reasoning_fields or value is None:
                continue
            if sent or key in self.returned_fields:
                yield Generic(key, value, extra={self.name: {"field": True}})
            elif value and isinstance(value, dict | list):
                yield Generic(key, value)

    def _read_spoken(self, audio: Mapping[str, Any]) -> Iterator[Part]:
        """Yield a spoken answer and its text; it is sent again by its id alone.

        https://platform.openai.com/docs/guides/audio
        """
        own = {"field": "audio", **({"id": audio["id"]} if "id" in audio else {})}
        if isinstance(text := audio.get("transcript"), str):
            yield Text(text, extra={self.name: {"field": "audio"}})
        if isinstance(data := audio.get("data"), str):
            yield Blob("audio", data, extra={self.name: own})
        else:
            yield File("audio", str(audio["id"]), extra={self.name: own})


def _results(message: Message) -> list[ToolCallResponse]:
    return [part for part in message.parts if isinstance(part, ToolCallResponse)]


def _put_content(before: str, content: list[str | dict[str, Any]], wire: dict[str, Any]) -> None:
    """Write the content: one text as a string, more as a list, none beside something else."""
    if before:
        if content and isinstance(content[0], str):
            content[0] = before + content[0]
        else:
            content.insert(0, before)
    match content:
        case [str(text)]:
            wire["content"] = text
        case []:
            if wire.keys().isdisjoint(("tool_calls", "function_call", "refusal", "audio")):
                wire["content"] = ""
        case _:
            wire["content"] = [
                {"type": "text", "text": part} if isinstance(part, str) else part
                for part in content
            ]


def _text_of(details: Any) -> str:
    """Return the readable text of reasoning details."""
    texts = (d.get("text") or d.get("summary") for d in details if isinstance(d, Mapping))
    return "".join(text for text in texts if isinstance(text, str))

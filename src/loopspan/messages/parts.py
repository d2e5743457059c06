"""The parts of a message, with the field names of the GenAI conventions' message JSON.

`extra` keeps what a provider needs to see again (signatures, reasoning details, ids) or what it
wrote in a form of its own; it is keyed by the provider's name, so that nothing of one provider
is ever sent to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

from loopspan.jsontext import dump_text

Extra: TypeAlias = Mapping[str, Mapping[str, Any]]


class _Part:
    """What all parts share: the convention's JSON object, and the provider's own details."""

    __slots__ = ()
    type: str
    extra: Extra
    _CARRIES: ClassVar[str] = "content"

    def to_json(self) -> dict[str, Any]:
        """Return the part as the conventions' JSON object; absent values are left out."""
        result: dict[str, Any] = {"type": self.type}
        for f in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, f.name)
            if f.name not in ("type", "extra") and value is not None:
                result[f.name] = value
        if self.extra:
            result["extra"] = self.extra
        return result

    @property
    def carried(self) -> str:
        """What the part is there for, as text: what is no text as JSON."""
        value = getattr(self, self._CARRIES)
        return value if isinstance(value, str) else dump_text(value)

    def own(self, provider: str) -> Mapping[str, Any]:
        """Return the details that this provider asked to keep."""
        return self.extra.get(provider, {})


@dataclass(frozen=True, slots=True)
class Text(_Part):
    """Text to or from the model."""

    content: str
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["text"] = field(default="text", kw_only=True)


@dataclass(frozen=True, slots=True)
class Reasoning(_Part):
    """Thinking text of the model; empty when the provider keeps it to itself."""

    content: str
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["reasoning"] = field(default="reasoning", kw_only=True)


@dataclass(frozen=True, slots=True)
class ToolCall(_Part):
    """The model asks for a call; `arguments` is parsed JSON, or the raw text where it is none."""

    _CARRIES = "arguments"

    name: str
    arguments: Any = None
    id: str | None = None
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["tool_call"] = field(default="tool_call", kw_only=True)


@dataclass(frozen=True, slots=True)
class ToolCallResponse(_Part):
    """The result of a call, as it is sent back; `is_error` where the call failed."""

    _CARRIES = "response"

    response: Any
    id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["tool_call_response"] = field(default="tool_call_response", kw_only=True)


@dataclass(frozen=True, slots=True)
class Blob(_Part):
    """Inline data in base64; `modality` is image, audio, video, document or the provider's word."""

    modality: str
    content: str
    mime_type: str | None = None
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["blob"] = field(default="blob", kw_only=True)


@dataclass(frozen=True, slots=True)
class Uri(_Part):
    """Data by reference, never a `data:` URL."""

    _CARRIES = "uri"

    modality: str
    uri: str
    mime_type: str | None = None
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["uri"] = field(default="uri", kw_only=True)


@dataclass(frozen=True, slots=True)
class File(_Part):
    """A file that was uploaded to the provider before."""

    _CARRIES = "file_id"

    modality: str
    file_id: str
    mime_type: str | None = None
    extra: Extra = field(default_factory=dict, kw_only=True)
    type: Literal["file"] = field(default="file", kw_only=True)


@dataclass(frozen=True, slots=True)
class Generic(_Part):
    """A part of a kind that loopspan does not know, kept in its place with its raw body."""

    _CARRIES = "body"

    type: str
    body: Any = None
    extra: Extra = field(default_factory=dict, kw_only=True)


Part: TypeAlias = Text | Reasoning | ToolCall | ToolCallResponse | Blob | Uri | File | Generic
PARTS: Mapping[str, type[_Part]] = {
    "text": Text,
    "reasoning": Reasoning,
    "tool_call": ToolCall,
    "tool_call_response": ToolCallResponse,
    "blob": Blob,
    "uri": Uri,
    "file": File,
}


def part_from_json(data: Mapping[str, Any]) -> Part:
    """Return the part that `to_json` wrote; unknown kinds become `Generic`."""
    kind = str(data.get("type", "unknown"))
    cls = PARTS.get(kind)
    values = {k: v for k, v in data.items() if k != "type" and v is not None}
    if cls is not None:
        names = {f.name for f in fields(cls)}  # type: ignore[arg-type]  # parts are dataclasses
        try:
            part: Any = cls(**{k: v for k, v in values.items() if k in names})
        except TypeError:
            pass
        else:
            result: Part = part
            return result
    return Generic(kind, values.get("body", values), extra=values.get("extra", {}))

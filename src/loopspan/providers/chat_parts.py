"""Content parts of the chat-completions format, in both directions.

A part that the wire wrote with more than we have names for keeps the rest under the adapter's
name as `part`; one that came inside a list keeps an empty rest, since a lone text is otherwise
written as a plain string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from loopspan.errors import UnsupportedContent
from loopspan.messages import Blob, Extra, File, Generic, Part, Text, Uri
from loopspan.providers.adapter import Adapter

_DATA_URL = re.compile(r"data:([^;,\s]+);base64,(.*)", re.DOTALL)
_AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/vnd.wave": "wav", "audio/wave": "wav"}
_AUDIO_TYPES = {"mp3": "audio/mpeg"}


class ChatParts(Adapter):
    """What a message holds besides calls and thinking."""

    url_parts: ClassVar[Mapping[str, str]] = {"image": "image_url"}
    """The part that takes inline data or an address, by modality."""
    plain_urls: ClassVar[frozenset[str]] = frozenset()
    """Those of these parts whose address is no object."""
    media: ClassVar[frozenset[str]] = frozenset({"audio", "document"})
    """What else is taken, by modality."""
    file_addresses: ClassVar[bool] = False
    """Whether a document may be given by its address."""

    def _write_part(self, part: Text | Blob | Uri | File) -> dict[str, Any]:
        rest = part.own(self.name).get("part", {})
        if isinstance(part, Text):
            kind = str(rest.get("type", "text"))
            return {"type": kind, kind: part.content, **rest}
        wire = self._write_media(part)
        for key, value in rest.items():
            inner = wire.get(key)
            wire[key] = {**inner, **value} if isinstance(inner, dict) else value
        return wire

    def _write_media(self, part: Blob | Uri | File) -> dict[str, Any]:
        kind = self.url_parts.get(part.modality)
        taken = part.modality in self.media
        match part:
            case Blob() if kind:
                return self._write_url(part, kind, _data_url(part, self.name))
            case Uri() if kind:
                return self._write_url(part, kind, part.uri)
            case Blob(modality="audio") if taken:
                return {
                    "type": "input_audio",
                    "input_audio": {"data": part.content, "format": _audio_format(part, self.name)},
                }
            case Blob(modality="document") if taken:
                return {"type": "file", "file": self._write_file(part)}
            case Uri(modality="document") if self.file_addresses:
                return {"type": "file", "file": {"file_data": part.uri}}
            case File(modality="document") if taken:
                return {"type": "file", "file": {"file_id": part.file_id}}
        advice = "leave it out" if isinstance(part, Blob) else "send the data itself as a Blob"
        raise UnsupportedContent(
            f"{self.name} takes no {part.type!r} part of modality {part.modality!r}; {advice},"
            " or use a provider that takes it"
        )

    def _write_url(self, part: Blob | Uri, kind: str, url: str) -> dict[str, Any]:
        plain = part.own(self.name).get("plain", kind in self.plain_urls)
        return {"type": kind, kind: url if plain else {"url": url}}

    def _write_file(self, part: Blob) -> dict[str, Any]:
        file = {"file_data": _data_url(part, self.name)}
        if "file" not in part.own(self.name).get("part", {}):
            file["filename"] = _filename(part)
        return file

    def _read_part(self, wire: Mapping[str, Any]) -> Part:
        kind = wire.get("type")
        modality = {v: k for k, v in self.url_parts.items()}.get(str(kind))
        part: Part | None = None
        if kind in ("text", "refusal") and isinstance(wire.get(kind), str):
            rest = {k: v for k, v in wire.items() if k not in ("type", kind)}
            if kind == "refusal":
                rest["type"] = kind
            part = Text(wire[kind], extra=self._rest(rest))
        elif modality:
            part = self._read_url(wire, str(kind), modality)
        elif kind == "input_audio" and "audio" in self.media:
            part = self._read_audio(wire)
        elif kind == "file" and "document" in self.media:
            part = self._read_file(wire)
        return part or Generic(str(kind or "unknown"), dict(wire), extra={self.name: {}})

    def _read_url(self, wire: Mapping[str, Any], kind: str, modality: str) -> Blob | Uri | None:
        payload = wire.get(kind)
        plain = isinstance(payload, str)
        inner = {"url": payload} if plain else _payload(wire, kind)
        url = inner.pop("url", None)
        if not isinstance(url, str):
            return None
        marks = {} if plain == (kind in self.plain_urls) else {"plain": plain}
        extra = self._rest(_rest_of(wire, kind, inner), **marks)
        if data := _DATA_URL.fullmatch(url):
            return Blob(modality, data[2], data[1], extra=extra)
        return None if url.startswith("data:") else Uri(modality, url, extra=extra)

    def _read_audio(self, wire: Mapping[str, Any]) -> Blob | None:
        inner = _payload(wire, "input_audio")
        data, kind = inner.pop("data", None), inner.pop("format", None)
        if not isinstance(data, str) or not isinstance(kind, str):
            return None
        mime = _AUDIO_TYPES.get(kind, f"audio/{kind}")
        if _audio_format(Blob("audio", data, mime), self.name) != kind:
            inner["format"] = kind
        rest = _rest_of(wire, "input_audio", inner)
        return Blob("audio", data, mime, extra=self._rest(rest))

    def _read_file(self, wire: Mapping[str, Any]) -> Blob | Uri | File | None:
        inner = _payload(wire, "file")
        file_id, url = inner.pop("file_id", None), inner.pop("file_data", None)
        if isinstance(file_id, str) and url is None:
            return File("document", file_id, extra=self._rest(_rest_of(wire, "file", inner)))
        if not isinstance(url, str) or file_id is not None:
            return None
        if data := _DATA_URL.fullmatch(url):
            blob = Blob("document", data[2], data[1])
            rest = _rest_of(wire, "file", {})
            if inner != {"filename": _filename(blob)}:
                rest["file"] = inner
            return Blob("document", data[2], data[1], extra=self._rest(rest))
        if not self.file_addresses or url.startswith("data:"):
            return None
        return Uri("document", url, extra=self._rest(_rest_of(wire, "file", inner)))

    def _rest(self, rest: Mapping[str, Any], **marks: Any) -> Extra:
        own = {**({"part": rest} if rest else {}), **marks}
        return {self.name: own} if own else {}


def _rest_of(wire: Mapping[str, Any], kind: str, inner: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a part holds beside its payload, and what its payload holds beside the data."""
    rest = {k: v for k, v in wire.items() if k not in ("type", kind)}
    return {**rest, kind: inner} if inner else rest


def _payload(wire: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a copy of what a part holds under its kind."""
    payload = wire.get(kind)
    return dict(payload) if isinstance(payload, Mapping) else {}


def _data_url(part: Blob, provider: str) -> str:
    return f"data:{_mime_type(part, provider)};base64,{part.content}"


def _mime_type(part: Blob, provider: str) -> str:
    if not part.mime_type:
        raise UnsupportedContent(
            f"{provider} needs the media type of a blob; set its mime_type, such as 'image/png'"
        )
    return part.mime_type


def _audio_format(part: Blob, provider: str) -> str:
    mime = _mime_type(part, provider)
    return _AUDIO_FORMATS.get(mime) or mime.partition("/")[2].removeprefix("x-")


def _filename(part: Blob) -> str:
    """Return a name for a document that has none; the API asks for one."""
    return "document.pdf" if part.mime_type == "application/pdf" else "document"

"""Content parts of OpenAI's Responses API, in both directions.

https://platform.openai.com/docs/api-reference/responses/create#responses-create-input

What a part holds besides what we have names for stays under the adapter's name as `part`. A text
that came alone in a list keeps it even if it is empty, since a lone text is otherwise written as
a plain string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from loopspan.errors import UnsupportedContent
from loopspan.messages import Blob, Extra, File, Generic, Part, Text, Uri

NAME = "openai-responses"

_DATA_URL = re.compile(r"data:([^;,\s]+);base64,(.*)", re.DOTALL)
_AUDIO = {"mp3": "audio/mpeg", "wav": "audio/wav"}


def text(value: Any) -> str:
    """Return a text of the wire, empty where there is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def kept(**details: Any) -> Extra:
    """Return what this provider wants to see again, without what is not there."""
    own = {key: value for key, value in details.items() if value is not None}
    return {NAME: own} if own else {}


def rest(wire: Mapping[str, Any], *named: str) -> dict[str, Any]:
    """Return what a wire object holds besides its named fields."""
    return {key: value for key, value in wire.items() if key not in named}


def write_part(part: Part, role: str) -> dict[str, Any]:
    """Return a part of a message's content."""
    own = part.own(NAME).get("part", {})
    match part:
        case Text():
            kind = own.get("type") or ("output_text" if role == "assistant" else "input_text")
            key = "refusal" if kind == "refusal" else "text"
            return {"type": kind, key: part.content, **own}
        case Generic(body=Mapping()) if not part.extra or NAME in part.extra:
            return {"type": part.type, **part.body}
        case Blob() | Uri() | File():
            return {**_write_media(part), **own}
    raise UnsupportedContent(
        f"{NAME} does not know a part of type {part.type!r}; "
        "send it as a Text, Blob, Uri or File part, or leave it out"
    )


def _write_media(part: Blob | Uri | File) -> dict[str, Any]:
    match part:
        case Blob(modality="image"):
            return {"type": "input_image", "image_url": _data_url(part)}
        case Uri(modality="image"):
            return {"type": "input_image", "image_url": part.uri}
        case File(modality="image"):
            return {"type": "input_image", "file_id": part.file_id}
        case Blob(modality="document"):
            named = {"filename": _filename(part.mime_type), "file_data": _data_url(part)}
            return {"type": "input_file", **named}
        case Uri(modality="document"):
            return {"type": "input_file", "file_url": part.uri}
        case File(modality="document"):
            return {"type": "input_file", "file_id": part.file_id}
        case Blob(modality="audio", mime_type=mime) if mime in _AUDIO.values():
            kind = next(key for key, value in _AUDIO.items() if value == mime)
            return {"type": "input_audio", "input_audio": {"data": part.content, "format": kind}}
    raise UnsupportedContent(
        f"{NAME} takes no {part.type} of modality {part.modality!r} and type {part.mime_type!r}; "
        "send an image or document, or mp3 or wav data"
    )


def read_part(wire: Mapping[str, Any], role: str) -> Part:
    """Return a part of a message's content; one of an unknown kind or shape becomes `Generic`."""
    match wire:
        case {"type": "input_text" | "output_text" as kind, "text": str(content)}:
            usual = kind == ("output_text" if role == "assistant" else "input_text")
            own = rest(wire, "text", *(("type",) if usual else ()))
            return Text(content, extra=kept(part=own or None))
        case {"type": "refusal", "refusal": str(content)}:
            return Text(content, extra=kept(part=rest(wire, "refusal")))
    kind = str(wire.get("type") or "unknown")
    return _read_media(wire) or Generic(kind, wire, extra={NAME: {"place": "content"}})


def _read_media(wire: Mapping[str, Any]) -> Part | None:
    match wire:
        case {"type": "input_image", "image_url": str(url)}:
            extra = kept(part=rest(wire, "type", "image_url") or None)
            return _read_url("image", url, extra)
        case {"type": "input_image", "file_id": str(file_id)}:
            extra = kept(part=rest(wire, "type", "file_id") or None)
            return File("image", file_id, extra=extra)
        case {"type": "input_file", "file_data": str(url)}:
            own = rest(wire, "type", "file_data")
            data = _DATA_URL.fullmatch(url)
            if data and own.get("filename") == _filename(data[1]):
                del own["filename"]
            return (
                Blob("document", data[2], data[1], extra=kept(part=own or None)) if data else None
            )
        case {"type": "input_file", "file_url": str(url)}:
            return Uri("document", url, extra=kept(part=rest(wire, "type", "file_url") or None))
        case {"type": "input_file", "file_id": str(file_id)}:
            return File("document", file_id, extra=kept(part=rest(wire, "type", "file_id") or None))
        case {
            "type": "input_audio",
            "input_audio": {"data": str(data), "format": str(kind), **more},
        }:
            if kind in _AUDIO and not more:
                extra = kept(part=rest(wire, "type", "input_audio") or None)
                return Blob("audio", data, _AUDIO[kind], extra=extra)
    return None


def _read_url(modality: str, url: str, extra: Extra) -> Part | None:
    if data := _DATA_URL.fullmatch(url):
        return Blob(modality, data[2], data[1], extra=extra)
    return None if url.startswith("data:") else Uri(modality, url, extra=extra)


def _data_url(part: Blob) -> str:
    if not part.mime_type:
        raise UnsupportedContent(
            f"{NAME} needs the media type of a blob; set its mime_type, such as 'image/png'"
        )
    return f"data:{part.mime_type};base64,{part.content}"


def _filename(mime_type: str | None) -> str:
    """Return a name for a document that has none; the API asks for one."""
    return "document.pdf" if mime_type == "application/pdf" else "document"

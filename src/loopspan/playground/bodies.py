"""Bodies by reference: a keyed hash names each, so that equal ones are one and none is guessed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, TypeAlias

from loopspan.jsontext import dump, well_formed
from loopspan.messages import message_from_json, part_from_json

PREVIEW = 160
"""The most characters of a preview."""

JSON = "application/json"
TEXT = "text/plain"

Body: TypeAlias = str | Mapping[str, Any] | bytes
Shape: TypeAlias = dict[str, Any]


class Hasher:
    """Names bodies by a BLAKE2b of 128 bits whose key is random per process."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def of(self, content: bytes, kind: str) -> str:
        """Return 32 hexadecimal digits."""
        person = kind.encode()[:16]
        digest = hashlib.blake2b(content, digest_size=16, key=self._key, person=person)
        return digest.hexdigest()


class Bodies:
    """The bodies of one run by their hash; a message is hashed once, when it first appears."""

    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher
        self._known: dict[str, Body] = {}
        self._messages: dict[int, tuple[Mapping[str, Any], Shape]] = {}

    def __contains__(self, h: str) -> bool:
        return h in self._known

    def __iter__(self) -> Any:
        return iter(self._known)

    def get(self, h: str) -> bytes | None:
        """Return a body as it is sent, in UTF-8."""
        body = self._known.get(h)
        match body:
            case None | bytes():
                return body
            case str():
                return well_formed(body).encode()
            case _:
                return dump(body)

    def text(self, text: str, media_type: str = TEXT) -> Shape:
        """Return the `BodyRef` of a text."""
        content = well_formed(text).encode()
        h = self._hasher.of(content, "text")
        self._known[h] = text
        return {
            "h": h,
            "bytes": len(content),
            "media_type": media_type,
            "preview": preview(text),
        }

    def json(self, value: Any) -> Shape:
        """Return the `BodyRef` of a value that is kept as JSON."""
        return self.text(dump(value).decode(), JSON)

    def message(self, message: Mapping[str, Any]) -> Shape:
        """Return what a `MsgRef` says of a message wherever it stands.

        The body is the JSON of the whole message; `bytes` are those of what its parts carry, which
        is what origins count in.
        """
        known = self._messages.get(id(message))
        if known is not None:
            return known[1]
        h = self._hasher.of(dump(canonical(message)), "message")
        self._known.setdefault(h, message)
        shape = described(message) | {"h": h}
        # The message is kept too: an id is only that of one object while this object is there.
        self._messages[id(message)] = (message, shape)
        return shape


def canonical(value: Any) -> Any:
    """Return a value whose JSON is the same for equal values, whatever the order of keys."""
    match value:
        case Mapping():
            return {key: canonical(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [canonical(each) for each in value]
        case _:
            return value


def described(message: Mapping[str, Any]) -> Shape:
    """Return role, kinds of parts, size, names and preview of a message."""
    parts = [p for p in message.get("parts") or () if isinstance(p, Mapping)]
    captured = not any("bytes" in part for part in parts)
    carried = message_from_json(message).carried if captured else ""
    size = len(carried.encode("utf-8", "surrogatepass"))
    if not captured:
        size = sum(part["bytes"] for part in parts if isinstance(part.get("bytes"), int))
    return {
        "role": str(message.get("role") or "unknown"),
        "bytes": size,
        "parts": [_KINDS.get(str(p.get("type")), str(p.get("type"))) for p in parts],
        "tool_call_id": next((p["id"] for p in parts if _names_a_call(p)), None),
        "name": message.get("name") or next((p["name"] for p in parts if p.get("name")), None),
        "preview": preview(" ".join(map(_said, parts))) if captured else None,
    }


_KINDS = {
    "reasoning": "thinking",
    "tool_call_response": "tool_result",
    "blob": "media",
    "uri": "media",
    "file": "media",
}


def _said(part: Mapping[str, Any]) -> str:
    """Return what a part says in a preview: a call with its name, else what it carries."""
    carried = part_from_json(part).carried[: PREVIEW * 2]
    return f"{part.get('name')} {carried}" if part.get("type") == "tool_call" else carried


def _names_a_call(part: Mapping[str, Any]) -> bool:
    return part.get("type") in ("tool_call", "tool_call_response") and bool(part.get("id"))


def preview(text: str) -> str:
    """Return the beginning of a text on one line, with `…` where it goes on."""
    head = " ".join(well_formed(text[: PREVIEW * 2]).split())
    if len(head) < PREVIEW and len(text) <= PREVIEW * 2:
        return head
    return f"{head[: PREVIEW - 1]}…"

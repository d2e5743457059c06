"""Parts of Gemini's contents, to and from the parts of a message.

https://ai.google.dev/api/caching#Part

A part's extra holds what its wire form has besides the values that we have names for (signatures,
ids, `videoMetadata`), each in its own place; it is laid over the part that is sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, count
from typing import Any, TypeAlias, assert_never

from loopspan.errors import UnsupportedContent
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

NAME = "gemini"

Wire: TypeAlias = dict[str, Any]

UNDER = "under"
"""The one key of an extra that is no field of the wire: the field that our value was read from."""

_BESIDE = ("thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata")
"""Fields of a part that say more of its data, and are none themselves."""

_WRAPPED = ("result", "output", "error")
"""https://ai.google.dev/api/caching#FunctionResponse: a response must be an object."""

# https://ai.google.dev/api/files#File
_UPLOADED = re.compile(r"https://generativelanguage\.googleapis\.com/[^/]+/files/")

_NAMES = """
allowedFunctionNames candidateCount fileData fileUri frequencyPenalty functionCall
functionCallingConfig functionDeclarations functionResponse generationConfig inlineData
maxOutputTokens mediaResolution mimeType parametersJsonSchema partMetadata presencePenalty
stopSequences systemInstruction thinkingConfig thinkingLevel thoughtSignature toolConfig topK topP
videoMetadata
""".split()  # noqa: SIM905  # as a list it would be a line a name
_CAMEL = {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", n): n for n in _NAMES}


def spelled(fields: Mapping[str, Any]) -> Wire:
    """Return the fields of an object of the API; those that we read have one spelling.

    The API takes names in snake case too, and null for absent:
    https://protobuf.dev/programming-guides/json/
    """
    return {_CAMEL.get(name, name): v for name, v in fields.items() if v is not None}


class Ids:
    """Ids of calls, unique in a dialogue: the provider's, or made where it gives none.

    Only newer models give ids. One that is made is never sent; to the API, calls of one name are
    then told apart by their order.
    """

    def __init__(self, place: str = "") -> None:
        """`place` sets the ids that are made apart from those of other replies."""
        self._place = place
        self._given: set[str] = set()

    def give(self, own: Any) -> str:
        """Return the provider's id, or another where there is none or it was there before."""
        made = (f"call_{self._place}{number}" for number in count(len(self._given)))
        wanted = [own] if isinstance(own, str) and own else []
        id = next(id for id in chain(wanted, made) if id not in self._given)
        self._given.add(id)
        return id


def provider_id(call: ToolCall) -> str | None:
    """Return the id that the provider gave to a call."""
    id = call.own(NAME).get("functionCall", {}).get("id")
    return id if isinstance(id, str) else None


def read_part(wire: Mapping[str, Any], ids: Ids) -> Part:
    """Return the part of a wire part; one of an unknown kind or shape becomes `Generic`."""
    beside = spelled(wire)
    kind = next((name for name in beside if name not in _BESIDE), "text")
    value = beside.pop(kind, "")
    if not beside.get("thought", True):
        del beside["thought"]
    match kind, value:
        case "text", str() if beside.get("thought"):
            return Reasoning(value, extra={NAME: beside})
        case "text", str():
            return Text(value, extra=_extra(beside))
        case "functionCall", {"name": str(name)}:
            return _read_call(name, spelled(value), beside, ids)
        case "functionResponse", Mapping():
            return _read_result(spelled(value), beside)
        case (("inlineData" | "fileData"), Mapping()):
            if media := _read_media(kind, spelled(value), beside):
                return media
    return Generic(kind, value, extra={NAME: beside})


def _extra(beside: Wire, kind: str = "", rest: Mapping[str, Any] | None = None) -> Extra:
    own = {**beside, kind: rest} if rest else beside
    return {NAME: own} if own else {}


def _read_call(name: str, call: Wire, beside: Wire, ids: Ids) -> ToolCall:
    del call["name"]
    arguments = call.pop("args", None)
    if arguments is None or arguments == "":
        arguments = {}
    if call.get("id") == "":
        del call["id"]
    id = ids.give(call.get("id"))
    return ToolCall(name, arguments, id, extra=_extra(beside, "functionCall", call))


def _read_result(result: Wire, beside: Wire) -> ToolCallResponse:
    """Return a result that still has the id of the wire."""
    name, id = result.pop("name", None), result.pop("id", None)
    response, is_error = result.pop("response", {}), None
    if isinstance(response, Mapping) and len(response) == 1:
        ((key, value),) = response.items()
        if key in _WRAPPED:
            response, is_error = value, True if key == "error" else None
            if not is_error and key != _wrapping(value):
                beside = {**beside, UNDER: key}
    return ToolCallResponse(
        response,
        id if isinstance(id, str) else None,
        name if isinstance(name, str) else None,
        is_error,
        extra=_extra(beside, "functionResponse", result),
    )


def _wrapping(response: Any) -> str | None:
    """Return the key under which a response is sent, `None` where it is an object by itself."""
    if isinstance(response, Mapping):
        alone = len(response) == 1 and next(iter(response)) in _WRAPPED
        return "result" if alone else None
    return "result"


def _read_media(kind: str, media: Wire, beside: Wire) -> Part | None:
    mime, data = media.pop("mimeType", None), media.pop("data", None)
    uri = media.pop("fileUri", None)
    if mime is not None and not isinstance(mime, str):
        return None
    family = (mime or "").partition("/")[0]
    modality = family if family in ("image", "audio", "video") else "document"
    extra = _extra(beside, kind, media)
    match kind, data, uri:
        case "inlineData", str(), None if mime:
            return Blob(modality, data, mime, extra=extra)
        case "fileData", None, str() if _UPLOADED.match(uri):
            return File(modality, uri, mime, extra=extra)
        case "fileData", None, str():
            return Uri(modality, uri, mime, extra=extra)
    return None


def write_part(part: Part, call: ToolCall | None) -> Wire | None:
    """Return the wire form of a part, or `None` where there is nothing to send of it.

    `call` is the call that a result answers.
    """
    own = {name: value for name, value in part.own(NAME).items() if name != UNDER}
    match part:
        case Text():
            return {"text": part.content, **own} if part.content or own else None
        case Reasoning():
            return {"text": part.content, **own} if own.get("thought") else None
        case ToolCall():
            return _laid(own, "functionCall", {"name": part.name, "args": _arguments(part)})
        case ToolCallResponse():
            return _laid(own, "functionResponse", _write_result(part, call))
        case Blob():
            if part.mime_type is None:
                raise UnsupportedContent("inline data has no mime type; give the Blob one")
            data = {"mimeType": part.mime_type, "data": part.content}
            return _laid(own, "inlineData", data)
        case Uri(uri=uri) | File(file_id=uri):
            mime = {} if part.mime_type is None else {"mimeType": part.mime_type}
            return _laid(own, "fileData", {"fileUri": uri, **mime})
        case Generic():
            if part.extra and NAME not in part.extra:
                raise UnsupportedContent(
                    f"a part of type {part.type!r} is another provider's; take it out"
                )
            return {part.type: part.body, **own}
        case _:
            assert_never(part)


def _laid(own: Wire, kind: str, value: Wire) -> Wire:
    return {**own, kind: {**value, **own.get(kind, {})}}


def _arguments(call: ToolCall) -> Any:
    if call.arguments is None:
        return {}
    # The API takes an object only; what another model wrote stays readable in it.
    is_object = isinstance(call.arguments, Mapping)
    return call.arguments if is_object else {"arguments": call.arguments}


def _write_result(part: ToolCallResponse, call: ToolCall | None) -> Wire:
    name = part.name or (call.name if call else None)
    if name is None:
        raise UnsupportedContent(
            f"the result of call {part.id!r} has no tool's name, nor is there such a call; name it"
        )
    key = "error" if part.is_error else part.own(NAME).get(UNDER) or _wrapping(part.response)
    response = part.response if key is None else {key: part.response}
    # https://ai.google.dev/gemini-api/docs/function-calling: the id of the call, as it was given
    id = provider_id(call) if call else None
    return {**({"id": id} if id else {}), "name": name, "response": response}

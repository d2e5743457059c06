"""Mistral's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from loopspan.jsontext import dump_text
from loopspan.messages import Blob, File, Part, Reasoning, Uri
from loopspan.providers.adapter import ErrorDetail
from loopspan.providers.chat_completions import ChatCompletions


class Mistral(ChatCompletions):
    """Mistral."""

    name = "mistral"
    provider_name = "mistral_ai"
    documentation = "https://docs.mistral.ai/api/endpoint/chat"
    base_url = "https://api.mistral.ai/v1"
    key_variable = "MISTRAL_API_KEY"
    price_provider = "mistral"
    request_id_header = "mistral-correlation-id"

    # https://docs.mistral.ai/api/endpoint/chat
    settings: ClassVar[Mapping[str, str]] = {**ChatCompletions.settings, "seed": "random_seed"}
    required_choice = "any"
    # The same page: there is no such field, and usage comes with the last chunk unasked.
    takes_stream_options = False
    reasoning_fields = ()
    # https://docs.mistral.ai/capabilities/document_ai/document_qna
    url_parts: ClassVar[Mapping[str, str]] = {"image": "image_url", "document": "document_url"}
    plain_urls = frozenset({"document_url"})

    def _put_reasoning(
        self, part: Reasoning, wire: dict[str, Any], content: list[str | dict[str, Any]]
    ) -> None:
        # https://docs.mistral.ai/capabilities/reasoning: thinking is a part of the content.
        own = part.own(self.name)
        if "part" in own:
            pieces = [{"type": "text", "text": part.content}] if part.content else []
            content.append({"type": "thinking", "thinking": pieces, **own["part"]})

    def _write_media(self, part: Blob | Uri | File) -> dict[str, Any]:
        # https://docs.mistral.ai/capabilities/audio, https://docs.mistral.ai/api/endpoint/chat
        match part:
            case Uri(modality="audio"):
                return {"type": "input_audio", "input_audio": part.uri}
            case File(modality="document"):
                return {"type": "file", "file_id": part.file_id}
        return super()._write_media(part)

    def _read_part(self, wire: Mapping[str, Any]) -> Part:
        rest = {k: v for k, v in wire.items() if k not in ("type", wire.get("type"), "file_id")}
        match wire:
            case {"type": "input_audio", "input_audio": str(uri)} if "://" in uri:
                return Uri("audio", uri, extra=self._rest(rest))
            case {"type": "file", "file_id": str(file_id)}:
                return File("document", file_id, extra=self._rest(rest))
            case {"type": "thinking", "thinking": list(pieces)}:
                text = "".join(piece["text"] for piece in pieces if piece.get("type") == "text")
                if pieces != ([{"type": "text", "text": text}] if text else []):
                    rest["thinking"] = pieces  # more pieces than one, or such as are no text
                return Reasoning(text, extra={self.name: {"part": rest}})
        return super()._read_part(wire)

    def read_error(self, body: Any) -> ErrorDetail | None:
        # Three shapes, none documented: the usual `error`, a flat object, and that of the gateway
        # (`detail`, or a message alone).
        detail = super().read_error(body)
        if detail is not None or not isinstance(body, Mapping) or "choices" in body:
            return detail
        said = body.get("detail") or body.get("message")
        if not said:
            return None
        return ErrorDetail(said if isinstance(said, str) else dump_text(said))

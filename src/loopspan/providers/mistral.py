"""Mistral's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from loopspan.jsontext import dump_text
from loopspan.messages import Part, Reasoning
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

    def _read_part(self, wire: Mapping[str, Any]) -> Part:
        pieces = wire.get("thinking")
        if wire.get("type") != "thinking" or not isinstance(pieces, list):
            return super()._read_part(wire)
        text = "".join(piece["text"] for piece in pieces if piece.get("type") == "text")
        rest = {key: value for key, value in wire.items() if key not in ("type", "thinking")}
        if pieces != ([{"type": "text", "text": text}] if text else []):
            rest["thinking"] = pieces  # more pieces than one, or such as are no text
        return Reasoning(text, extra={self.name: {"part": rest}})

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

"""OpenRouter's chat completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, ClassVar

from loopspan.messages import Blob, Part, Uri
from loopspan.providers.adapter import ErrorDetail, retry_after
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.providers.chat_requests import number

_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})
"""What upstream providers call an answer that was cut, in lower case."""


class OpenRouter(ChatCompletions):
    """OpenRouter."""

    name = "openrouter"
    provider_name = "openrouter"
    documentation = "https://openrouter.ai/docs/api-reference/chat-completion"
    base_url = "https://openrouter.ai/api/v1"
    key_variable = "OPENROUTER_API_KEY"
    price_provider = "openrouter"

    # https://openrouter.ai/docs/api-reference/parameters
    settings: ClassVar[Mapping[str, str]] = {
        **ChatCompletions.settings,
        "reasoning_level": "reasoning",
    }
    other_fields: ClassVar[Mapping[str, str]] = {
        "max_completion_tokens": "max_tokens",
        "reasoning_effort": "reasoning_level",
    }
    # https://openrouter.ai/docs/features/multimodal/overview
    url_parts: ClassVar[Mapping[str, str]] = {"image": "image_url", "video": "video_url"}
    file_addresses = True
    # https://openrouter.ai/docs/features/multimodal/pdfs: sent again, a file is parsed only once.
    returned_fields = frozenset({"annotations"})

    def _write_setting(self, name: str, value: Any) -> Any:
        # https://openrouter.ai/docs/use-cases/reasoning-tokens
        return (
            {"effort": value} if name == "reasoning_level" else super()._write_setting(name, value)
        )

    def _read_setting(self, name: str, raw: Any) -> Any:
        if name == "reasoning_level" and isinstance(raw, Mapping):
            raw = raw.get("effort")
        return super()._read_setting(name, raw)

    def _finish_word(self, wire: Mapping[str, Any]) -> str | None:
        # https://openrouter.ai/docs/api-reference/overview: cut calls come as `tool_calls`, and
        # only the upstream provider's own word tells.
        native = wire.get("native_finish_reason")
        cut = isinstance(native, str) and native.lower() in _CUT
        own = super()._finish_word(wire)
        return native if cut and own != "length" else own

    def _finish_reason(self, wire: Mapping[str, Any]) -> str | None:
        word = self._finish_word(wire)
        return "length" if word is not None and word.lower() in _CUT else word

    def _cost(self, usage: Mapping[str, Any]) -> float | None:
        # https://openrouter.ai/docs/use-cases/usage-accounting: with a key of one's own for the
        # upstream provider, `cost` is OpenRouter's fee, and the upstream provider charges too.
        cost = super()._cost(usage)
        details = usage.get("cost_details")
        if cost is None or usage.get("is_byok") is not True or not isinstance(details, Mapping):
            return cost
        upstream = number(details.get("upstream_inference_cost"))
        return cost if upstream is None else cost + upstream

    def _read_fields(self, wire: Mapping[str, Any], sent: bool) -> Iterator[Part]:
        # https://openrouter.ai/docs/features/multimodal/image-generation
        images = wire.get("images")
        if not isinstance(images, list):
            yield from super()._read_fields(wire, sent)
            return
        yield from super()._read_fields({k: v for k, v in wire.items() if k != "images"}, sent)
        for image in images:
            part = self._read_part(image)
            if isinstance(part, Blob | Uri):
                own = {**part.own(self.name), "field": "images"}
                yield replace(part, extra={self.name: own})

    def _put(
        self, part: Part, role: str, wire: dict[str, Any], content: list[str | dict[str, Any]]
    ) -> None:
        if isinstance(part, Blob | Uri) and part.own(self.name).get("field") == "images":
            wire.setdefault("images", []).append(self._write_part(part))
        else:
            super()._put(part, role, wire, content)

    def read_error(self, body: Any) -> ErrorDetail | None:
        # https://openrouter.ai/docs/api-reference/errors: a choice may hold the error.
        if isinstance(body, Mapping) and not body.get("error"):
            failed = next((c for c in body.get("choices") or () if c.get("error")), None)
            body = body if failed is None else failed
        detail = super().read_error(body)
        if detail is None or not isinstance(body.get("error"), Mapping):
            return detail
        metadata = body["error"].get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        raw = metadata.get("raw")  # what the upstream provider said
        message = f"{detail.message}: {raw}" if isinstance(raw, str) and raw else detail.message
        wait = _wait(metadata.get("headers"))
        return replace(detail, message=message, retry_after=detail.retry_after or wait)


def _wait(headers: Any) -> float | None:
    """Return the seconds to wait; `X-RateLimit-Reset` is a time in milliseconds.

    https://openrouter.ai/docs/api-reference/limits
    """
    if not isinstance(headers, Mapping):
        return None
    low = {str(k).lower(): str(v) for k, v in headers.items()}
    reset = low.get("x-ratelimit-reset", "")
    if "retry-after" not in low and reset.isdecimal():
        try:
            moment = datetime.fromtimestamp(-(-int(reset) // 1000), UTC)
        except (OverflowError, OSError):
            return None
        low["retry-after"] = format_datetime(moment, usegmt=True)
    return retry_after(low)

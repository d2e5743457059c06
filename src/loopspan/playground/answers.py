"""What every answer looks like: one JSON encoder, one form of error, headers of safety."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from loopspan.jsontext import dump

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'none'; frame-src 'none'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
)
SAFETY: Mapping[str, str] = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer carries unless it says otherwise itself."""


class Answer(Response):
    """A JSON answer; NaN is `null` in it, a lone surrogate U+FFFD."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return dump(content)


class Problem(Exception):
    """An answer that says what went wrong, and what to do next."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        detail: Any = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers
        told = {"code": code, "message": message, "detail": detail, "hint": hint}
        self.content = {"error": {k: v for k, v in told.items() if v is not None}, **more}

    def answer(self) -> Answer:
        """Return it as a response."""
        return Answer(self.content, self.status, self.headers)

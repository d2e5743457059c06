"""Errors in the form that OpenAI's API has.

https://platform.openai.com/docs/guides/error-codes
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TYPES = {429: "rate_limit_error"}


@dataclass(eq=False)
class Failure(Exception):
    """An answer that is an error; `once` where the same request is to succeed the next time."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    once: bool = False

    @property
    def body(self) -> dict[str, Any]:
        """The error as JSON."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {
            "error": {
                "message": self.message,
                "type": _TYPES.get(self.status, kind),
                "param": self.param,
                "code": self.code,
            }
        }

"""Words in a prompt that make the model demonstrate something.

think           the answer comes with reasoning
slowly          the answer takes its time, a piece after the other
refuse          the answer ends with the finish reason `content_filter`
loop forever    a tool is asked for in every round, which shows what `max_rounds` does
fail with 500   the request fails with this status, any from 400 to 599, each time
fail with 429   it fails once, with `Retry-After: 0`, and then succeeds
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loopspan.demo.failures import Failure

_WORDS = {
    "thinks": r"think",
    "slowly": r"slowly",
    "refuses": r"refuse",
    "loops": r"loop forever",
    "status": r"fail with ([45]\d\d)",
}
_PATTERNS = {
    name: re.compile(rf"\b{words}\b[ ,:]*", re.IGNORECASE) for name, words in _WORDS.items()
}
_CODES = {
    401: "invalid_api_key",
    403: "permission_denied",
    404: "model_not_found",
    429: "rate_limit_exceeded",
}
_ONCE = frozenset({429})


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What a prompt wants to see, and what else it says."""

    prompt: str
    thinks: bool = False
    slowly: bool = False
    refuses: bool = False
    loops: bool = False
    failure: Failure | None = None


def demonstration(prompt: str) -> Demonstration:
    """Return what the words of a prompt want to see."""
    found = {name: pattern.search(prompt) for name, pattern in _PATTERNS.items()}
    for pattern in _PATTERNS.values():
        prompt = pattern.sub("", prompt)
    status = found.pop("status")
    seen = {name: match is not None for name, match in found.items()}
    return Demonstration(prompt, **seen, failure=_failure(int(status[1])) if status else None)


def _failure(status: int) -> Failure:
    once = status in _ONCE
    return Failure(
        status,
        f"The prompt asked for the status {status}.",
        _CODES.get(status),
        headers={"retry-after": "0"} if once else {},
        once=once,
    )

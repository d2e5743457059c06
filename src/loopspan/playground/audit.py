"""One line for each thing that somebody did, without content."""

from __future__ import annotations

import logging
from typing import Any

from starlette.requests import Request

from loopspan.jsontext import dump_text

logger = logging.getLogger("loopspan.playground.audit")


def audit(action: str, request: Request, *, refused: bool = False, **facts: Any) -> None:
    """Log who did what to which run, as one JSON object."""
    principal = getattr(request.state, "principal", None)
    told = {
        "action": action,
        "principal": None if principal is None else principal.name,
        "client": None if request.client is None else request.client.host,
        **({"refused": True} if refused else {}),
        **facts,
    }
    logger.info("%s", dump_text(told))

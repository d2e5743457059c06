"""What the sources behind an HTTP address have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn
from urllib.parse import urlsplit

from loopspan.errors import ConfigurationError, SourceError
from loopspan.jsontext import load
from loopspan.runs.sources.drivers import Answer, Drivers
from loopspan.runs.sources.source import Source
from loopspan.telemetry.record import SpanRecord

_MOST_SAID = 200
"""The characters of a backend's own words that an error repeats."""


class Backend(Source):
    """A source at an address; its `title` is how people call it, `port` where it listens."""

    title: str
    port: int

    def __init__(self, url: str, drivers: Drivers | None = None, name: str | None = None) -> None:
        """Raises `ConfigurationError` where the address cannot be one."""
        super().__init__(name or self.type, drivers)
        self.url = self._checked(url)

    def _checked(self, url: str) -> str:
        example = f"give one such as http://localhost:{self.port}"
        try:
            parts = urlsplit(url)
            wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
            login = parts.username is not None or parts.password is not None
        except ValueError:
            wrong, login = True, "@" in url
        if login:
            raise ConfigurationError(
                f"the address of {self.title} holds a user or password; pass a header instead"
            )
        if wrong or parts.query or parts.fragment:
            raise ConfigurationError(f"{url!r} is no address of {self.title}; {example}")
        return url.rstrip("/")

    def _json(self, answer: Answer) -> dict[str, Any]:
        """Return the object of a good answer."""
        if answer.status != 200:
            self._refuse(answer)
        try:
            value = load(answer.body)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            kind = answer.headers.get("content-type", "no content type").partition(";")[0]
            raise SourceError(
                f"{answer.url} answered {kind}, which is no JSON object",
                f"check that the address is that of {self.title}'s query API (port {self.port})",
            )
        return value

    def _refuse(self, answer: Answer) -> NoReturn:
        status = answer.status
        if 300 <= status < 400:
            place = answer.headers.get("location", "an unknown place")
            raise SourceError(
                f"{answer.url} answered with a redirect to {place[:_MOST_SAID]!r}",
                "it is not followed; give the address that it leads to",
            )
        if status in (401, 403):
            hint = f"{self.title} asks for a login; pass its header"
        elif status == 404:
            hint = f"check that the address is that of {self.title}'s query API"
        elif status >= 500:
            hint = f"see the log of {self.title}"
        else:
            hint = f"check that this version of {self.title} has this API"
        said = _said(answer.body)
        raise SourceError(f"{answer.url} answered {status}{f': {said}' if said else ''}", hint)


def orphans(spans: Sequence[SpanRecord]) -> tuple[str, ...]:
    """Return a sentence where spans name a parent that is not there."""
    there = {span.span_id for span in spans}
    parents = {span.parent_id for span in spans if span.parent_id} - there
    if not parents:
        return ()
    are = "parent of its spans is" if len(parents) == 1 else "parents of its spans are"
    return (f"{len(parents)} {are} not in the trace: a part of it may be missing",)


def _said(body: bytes) -> str:
    """Return the sentence of an error's body, on one line."""
    try:
        value = load(body)
    except ValueError:
        value = body.decode("utf-8", "replace")
    match value:
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)}:
            pass
        case str(text):
            pass
        case _:
            return ""
    line = " ".join(text.split())
    return "" if line.startswith("<") else line[:_MOST_SAID]

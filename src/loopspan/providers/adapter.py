"""The contract of a provider adapter: one wire format, pure, in both directions.

An adapter does no I/O. It says where a request goes and what it looks like (`url`, `headers`,
`body`), reads what came back (`reply`, `event`, `error`), and reads what a body asked for
(`request`). A subclass is its documentation's URL, attributes, and the hooks `read_*`; the
public methods here guard them, so that whatever a server sends ends as a value or as an error
of our tree.

A stream is assembled into the body that the provider would have sent unstreamed
(`StreamState.body`), and read by the same `read_reply`: both ways give the same reply.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, TypeAlias, TypeVar

from loopspan.errors import (
    AuthenticationError,
    BadResponse,
    InvalidRequestError,
    LoopspanError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from loopspan.jsontext import dump_text, load
from loopspan.messages import Reasoning, Reply, Request, Text
from loopspan.providers.framing import Event, Framing
from loopspan.secrets import Secret

T = TypeVar("T")

Delta: TypeAlias = Text | Reasoning
"""A piece of a streamed answer, for people to watch; the reply is read from the whole."""


@dataclass(slots=True)
class StreamState:
    """What has arrived of a stream: the body under assembly, and whether it told its end."""

    body: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    scratch: dict[str, Any] = field(default_factory=dict)
    """The adapter's own notes that are no part of the body."""


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """What an error body says; `retry_after` is in seconds, `status` one inside the body."""

    message: str = ""
    code: str | None = None
    retry_after: float | None = None
    status: int | None = None
    request_id: str | None = None


class Adapter(ABC):
    """One provider's wire format."""

    name: ClassVar[str]
    """The word before the colon in `provider:model`, and the key of its details in `extra`."""
    provider_name: ClassVar[str]
    """The value of `gen_ai.provider.name`."""
    documentation: ClassVar[str]
    base_url: ClassVar[str]
    key_variable: ClassVar[str | None] = None
    """The environment variable that usually holds the key."""
    price_provider: ClassVar[str | None] = None
    """The provider's id in the price table, where it has one."""
    framing: ClassVar[Framing] = "sse"
    system_apart: ClassVar[bool] = False
    """Whether the API takes system instructions apart from the dialogue."""
    keeps_tools: ClassVar[bool] = False
    """Whether tools must stay defined as long as the dialogue holds calls of them."""
    default_model: ClassVar[str] = ""
    """The model that `provider:` alone means, where there is one."""
    request_id_header: ClassVar[str] = "x-request-id"

    @abstractmethod
    def url(self, base_url: str, request: Request) -> str:
        """Return the address of this request; never with a key in it."""

    @abstractmethod
    def headers(self, key: Secret | None) -> dict[str, str]:
        """Return the headers of a request, the authorisation among them."""

    @abstractmethod
    def body(self, request: Request) -> dict[str, Any]:
        """Return the body; raises `UnsupportedContent` for a part that the provider cannot take."""

    @abstractmethod
    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        """Return what this body asked for; the hook behind `request`."""

    @abstractmethod
    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        """Return what this body answered; the hook behind `reply`."""

    @abstractmethod
    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        """Put one event into `state.body` and yield its deltas; the hook behind `event`."""

    @abstractmethod
    def is_complete(self, state: StreamState) -> bool:
        """Return whether a stream that is over had told its end."""

    def read_error(self, body: Any) -> ErrorDetail | None:
        """Return what an error body says, or `None` where the body is no error.

        Called with every body of an HTTP error, and with each body and event of a 200: there it
        must tell an error apart from an answer.
        """
        error = body.get("error") if isinstance(body, Mapping) else None
        if not error:
            return None
        if not isinstance(error, Mapping):
            return ErrorDetail(str(error))
        code = error.get("code") or error.get("type")
        return ErrorDetail(str(error.get("message") or ""), None if code is None else str(code))

    def address(self, variable: Callable[[str], str | None]) -> str:
        """Return the base URL; `variable` looks up an environment variable."""
        return self.base_url

    def missing(self) -> str | None:
        """Return what has to be done before the provider can be used at all, if anything."""
        return None

    # What follows is the same for every adapter.

    def request(self, body: Any, url: str = "") -> Request:
        """Return what a body asked for; raises `BadResponse` where it is of another format."""
        return self._guarded("request", lambda: self.read_request(_mapping(body), url))

    def reply(self, body: Any) -> Reply:
        """Return what a body answered; an error inside a 200 is raised."""
        if isinstance(body, list):
            return self._from_pieces(body)
        self._raise_error_in(body)
        return self._guarded("answer", lambda: self.read_reply(_mapping(body)))

    def _from_pieces(self, pieces: list[Any]) -> Reply:
        """Return the reply of a stream that came as one array (Gemini without `alt=sse`)."""
        state = StreamState()
        for piece in pieces:
            self.event(state, Event(dump_text(piece)))
        return self.finish(state)

    def event(self, state: StreamState, event: Event) -> tuple[Delta, ...]:
        """Take one event of a stream; an error in the middle of a stream is raised."""
        if event.text == "[DONE]":
            state.ended = True
            return ()
        data = self._guarded("event", lambda: load(event.text))
        self._raise_error_in(data, event.name)
        return self._guarded(
            "event", lambda: tuple(self.read_event(state, event.name, _mapping(data)))
        )

    def finish(self, state: StreamState) -> Reply:
        """Return the reply of a stream that is over; raises `BadResponse` where it broke off."""
        if not (state.ended or self.is_complete(state)):
            raise BadResponse("the stream ended before its last event", provider=self.name)
        return self.reply(state.body)

    def partial(self, state: StreamState) -> Reply | None:
        """Return what had arrived of a stream that did not end, or `None` where that is nothing."""
        if not state.body:
            return None
        try:
            return self.reply(state.body)
        except LoopspanError:
            return None

    def error(
        self, status: int, body: Any, headers: Mapping[str, str] | None = None
    ) -> ProviderError:
        """Return the error of an HTTP answer; `body` is decoded JSON, or text where it is none."""
        try:
            detail = self.read_error(body)
        except (LookupError, TypeError, ValueError, AttributeError):
            detail = None
        if detail is None:
            detail = ErrorDetail(body[:500] if isinstance(body, str) else "")
        low = {k.lower(): v for k, v in (headers or {}).items()}
        return _error_class(detail.status or status)(
            detail.message,
            provider=self.name,
            # What HTTP said is a fact; the inner status only says more of what kind the error is.
            status=status if status >= 400 else detail.status or status,
            code=_token(detail.code),
            retry_after=_first(retry_after(low), detail.retry_after),
            request_id=low.get(self.request_id_header) or detail.request_id,
            body=body,
        )

    def _raise_error_in(self, body: Any, name: str | None = None) -> None:
        detail = self._guarded("answer", lambda: self.read_error(body))
        if detail is None and name == "error":
            detail = ErrorDetail()
        if detail is not None:
            cls = _error_class(detail.status) if detail.status else BadResponse
            raise cls(
                detail.message,
                provider=self.name,
                status=detail.status,
                code=_token(detail.code),
                retry_after=detail.retry_after,
                request_id=detail.request_id,
                body=body,
            )

    def _guarded(self, what: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except LoopspanError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadResponse(
                f"the {what} is not of the form that {self.name} documents",
                provider=self.name,
            ) from error


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected a JSON object, got {type(value).__name__}")
    return value


def _error_class(status: int) -> type[ProviderError]:
    if status in (401, 403):
        return AuthenticationError
    if status == 404:
        return NotFoundError
    if status == 429:
        return RateLimitError
    if status == 408 or status >= 500:
        return ServerError
    return InvalidRequestError if status >= 400 else BadResponse


def _token(code: str | None) -> str | None:
    """Return the code if it is a word; free text would carry content into `error.type`."""
    return code if code and re.fullmatch(r"[\w.:/-]{1,64}", code) else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After` (RFC 9110 10.2.3) or `retry-after-ms`."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
            return float(value)
        wait = parsedate_to_datetime(value) - datetime.now(UTC)
        return max(0.0, wait.total_seconds())
    except (ValueError, TypeError):
        return None


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)

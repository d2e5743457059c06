"""One round-trip to a model as a flow: send, read plain or streamed, try again."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from loopspan.errors import BadResponse, ConfigurationError, ConnectionFailed, ProviderError
from loopspan.flow.effects import Emit, Flow, HttpRequest, HttpResponse, Open, Read, Send, Sleep
from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.jsontext import dump, load
from loopspan.messages import Reply, Request, Text
from loopspan.providers.adapter import Delta, StreamState
from loopspan.providers.framing import decoder
from loopspan.providers.model import Model
from loopspan.secrets import Secret
from loopspan.telemetry.operations import ChatSpan

Deadline: TypeAlias = float
"""A point of `time.monotonic()` that no wait may pass."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and after how long, a request is sent again.

    `attempts` counts the first one; the wait is what the provider asks for, else it doubles from
    `base_delay`, with jitter. A wait above `max_delay` seconds is not taken: the error is raised.
    """

    attempts: int = 3
    base_delay: float = 0.5
    max_delay: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigurationError(f"retry attempts is {self.attempts!r}; give 1 or more")

    def delay(self, attempt: int, error: ProviderError) -> float | None:
        """Return the seconds to wait after attempt number `attempt`, `None` to give up."""
        if not error.retryable or attempt >= self.attempts:
            return None
        if error.retry_after is not None:
            delay = error.retry_after
        else:
            delay = self.base_delay * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311
        return delay if delay <= self.max_delay else None


class Exchange:
    """The round-trip of one `chat` span."""

    def __init__(
        self,
        model: Model,
        request: Request,
        chat: ChatSpan,
        retry: RetryPolicy,
        deadline: Deadline | None = None,
        http_spans: bool = True,
    ) -> None:
        self._model = model
        self._request = request
        self._chat = chat
        self._retry = retry
        self._deadline = deadline
        self._http_spans = http_spans
        self._heard = False

    def perform(self) -> Flow[Reply]:
        """Send the request, again where that may help, and return the reply."""
        http = http_request(self._model, self._request, self._http_spans)
        self._chat.raw_request(http.content)
        attempt = 1
        while True:
            try:
                return (yield from self._attempt(http))
            except ProviderError as error:
                delay = None if self._heard else self._retry.delay(attempt, error)
                if delay is None or self._too_late(delay):
                    raise
                self._chat.retry(error.status, delay, attempt)
            yield Sleep(delay)
            attempt += 1

    def _too_late(self, delay: float) -> bool:
        return self._deadline is not None and time.monotonic() + delay > self._deadline

    def _attempt(self, http: HttpRequest) -> Flow[Reply]:
        if not self._request.stream:
            response: HttpResponse = yield Send(http, self._chat.span)
            return self._plain(response)
        started = time.perf_counter()
        response = yield Open(http, self._chat.span)
        if response.status >= 300:
            return self._plain(response)
        if "application/json" in response.headers.get("content-type", ""):
            return self._plain((yield from self._whole(response)))
        return (yield from self._streamed(started))

    def _plain(self, response: HttpResponse) -> Reply:
        """Return the reply of a whole answer, or raise the error that it is."""
        content = _without(self._model.key, response.content)
        self._chat.raw_response(content)
        adapter = self._model.adapter
        try:
            body = load(content)
        except ValueError as error:
            text = content.decode("utf-8", "replace")
            if response.status >= 300:
                raise adapter.error(response.status, text, response.headers) from None
            raise BadResponse(
                f"the answer is not JSON: {text[:200]!r}", provider=adapter.name
            ) from error
        if response.status >= 300:
            raise adapter.error(response.status, body, response.headers)
        return adapter.reply(body)

    def _whole(self, head: HttpResponse) -> Flow[HttpResponse]:
        """Read an answer to its end: a server that was asked to stream may not do so."""
        chunks: list[bytes] = []
        while (chunk := (yield Read(self._model.adapter.name))) is not None:
            chunks.append(chunk)
        return HttpResponse(head.status, head.headers, b"".join(chunks))

    def _streamed(self, started: float) -> Flow[Reply]:
        adapter, chat, state = self._model.adapter, self._chat, StreamState()
        framed = decoder(adapter.framing)
        measured, last = chat.settings.metrics is not None, started
        try:
            while (chunk := (yield from self._chunk(state))) is not None:
                if chat.first_chunk_after is None:
                    last = time.perf_counter()
                    chat.first_chunk_after = last - started
                elif measured:
                    now = time.perf_counter()
                    chat.chunk_gaps.append(now - last)
                    last = now
                for event in framed.feed(chunk):
                    yield from self._emit(adapter.event(state, event))
            for event in framed.close():
                yield from self._emit(adapter.event(state, event))
            return adapter.finish(state)
        except BaseException:
            chat.reply = adapter.partial(state)
            raise

    def _chunk(self, state: StreamState) -> Flow[bytes | None]:
        try:
            chunk: bytes | None = yield Read(self._model.adapter.name)
        except ConnectionFailed:
            if state.ended:
                return None
            raise
        if chunk is None:
            return None
        chunk = _without(self._model.key, chunk)
        self._chat.raw_response(chunk)
        return chunk

    def _emit(self, deltas: tuple[Delta, ...]) -> Iterator[Emit]:
        round = self._chat.round
        self._heard = self._heard or bool(deltas)
        for delta in deltas:
            kind = TextDelta if isinstance(delta, Text) else ReasoningDelta
            yield Emit(kind(round, delta.content))


def http_request(model: Model, request: Request, spans: bool = True) -> HttpRequest:
    """Return a request in its provider's form, ready to be sent."""
    adapter = model.adapter
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream, application/json" if request.stream else "application/json",
        "user-agent": "loopspan",
        **adapter.headers(model.key),
    }
    url = adapter.url(model.base_url, request)
    return HttpRequest(adapter.name, url, headers, dump(adapter.body(request)), spans=spans)


def _without(key: Secret | None, content: bytes) -> bytes:
    """Return the answer without the key: some servers repeat it in their error texts."""
    if key and key.reveal().encode() in content:
        return key.masked_in(content.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )
    return content

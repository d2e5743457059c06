"""What sources ask of the world, and the two drivers that do it: the only I/O of the reader.

A source is written once, as a generator that yields what it needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import httpx

from loopspan.errors import ConfigurationError, SourceError

T = TypeVar("T")

MAX_BYTES = 64 * 1024 * 1024
"""The most that is read of an answer or a file."""
TIMEOUT = 10.0
"""The seconds that an answer may take, all of it."""


@dataclass(frozen=True, slots=True)
class Get:
    """Ask for an address; gives an `Answer` of any status."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    accept: str = "application/json"


@dataclass(frozen=True, slots=True)
class Read:
    """Read a file; gives its bytes."""

    path: Path


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, as it is."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


_NOTHING: Any = None
"""What a flow is sent first."""

Effect: TypeAlias = Get | Read
Flow: TypeAlias = Generator[Effect, Any, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drivers:
    """Performs the flows of a source; `headers` go with each request, and to nobody else.

    Without a client one is made for each flow. Redirects are not followed.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = TIMEOUT
    max_bytes: int = MAX_BYTES
    client: httpx.Client | None = None
    async_client: httpx.AsyncClient | None = None

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            # The HTTP library would put a wrong value, most likely a key, into its error.
            if not re.fullmatch(r"[!-~]+", name) or not re.fullmatch(r"[ -~\t]*", value):
                raise ConfigurationError(
                    f"the header {name!r} has a name or value that HTTP does not allow; "
                    "give printable ASCII"
                )

    def perform(self, flow: Flow[T]) -> T:
        """Perform a flow in this thread."""
        with contextlib.ExitStack() as stack:
            client, result = self.client, _NOTHING
            while True:
                effect = _next(flow, result)
                if isinstance(effect, _Ended):
                    return effect.value
                if isinstance(effect, Read):
                    result = self._read(effect.path)
                    continue
                if client is None:
                    client = stack.enter_context(httpx.Client())
                with self._asking(effect) as taken, client.stream("GET", **taken.asked) as response:
                    for part in response.iter_bytes():
                        taken.take(part)
                    result = taken.answer(response)

    async def aperform(self, flow: Flow[T]) -> T:
        """Perform a flow without blocking the event loop."""
        async with contextlib.AsyncExitStack() as stack:
            client, result = self.async_client, _NOTHING
            while True:
                # Reading many spans takes its time, which is not the event loop's.
                effect = await asyncio.to_thread(_next, flow, result)
                if isinstance(effect, _Ended):
                    return effect.value
                if isinstance(effect, Read):
                    result = await asyncio.to_thread(self._read, effect.path)
                    continue
                if client is None:
                    client = await stack.enter_async_context(httpx.AsyncClient())
                with self._asking(effect) as taken:
                    async with client.stream("GET", **taken.asked) as response:
                        async for part in response.aiter_bytes():
                            taken.take(part)
                        result = taken.answer(response)

    @contextlib.contextmanager
    def _asking(self, get: Get) -> Iterator[_Taken]:
        try:
            yield _Taken(get, self)
        except httpx.TimeoutException:
            raise _too_slow(get.url, self.timeout) from None
        except httpx.TransportError as error:
            raise SourceError(
                f"{get.url} cannot be reached ({_said(error)})",
                "check that it runs and that the address is right",
            ) from error
        except httpx.HTTPError as error:
            raise SourceError(
                f"the answer of {get.url} cannot be read ({_said(error)})",
                "check that the address is that of the backend itself",
            ) from error

    def _read(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                data = file.read(self.max_bytes + 1)
        except OSError as error:
            why = error.strerror or str(error)
            raise SourceError(f"{str(path)!r} cannot be read: {why}", "check the path") from error
        if len(data) > self.max_bytes:
            raise _too_large(repr(str(path)), self.max_bytes)
        return data


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    """The end of a flow; a thread cannot hand on the exception that generators end with."""

    value: T


def _next(flow: Flow[T], result: Any) -> Effect | _Ended[T]:
    """Return what a flow asks for next, or its end."""
    try:
        return flow.send(result)
    except StopIteration as end:
        return _Ended(end.value)


class _Taken:
    """An answer while it comes in, bounded in time and size."""

    def __init__(self, get: Get, limits: Drivers) -> None:
        self._url, self._limits = get.url, limits
        self._deadline = time.monotonic() + limits.timeout
        self._parts: list[bytes] = []
        self._size = 0
        self.asked: dict[str, Any] = {
            "url": get.url,
            "params": dict(get.params),
            "headers": {**limits.headers, "accept": get.accept},
            "follow_redirects": False,
            "timeout": limits.timeout,
        }

    def take(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limits.max_bytes:
            raise _too_large(f"the answer of {self._url}", self._limits.max_bytes)
        if time.monotonic() > self._deadline:
            raise _too_slow(self._url, self._limits.timeout)

    def answer(self, response: httpx.Response) -> Answer:
        return Answer(self._url, response.status_code, response.headers, b"".join(self._parts))


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


def _too_slow(url: str, seconds: float) -> SourceError:
    return SourceError(
        f"{url} did not answer within {seconds:g} s", "check that it runs, or raise the timeout"
    )


def _too_large(what: str, limit: int) -> SourceError:
    return SourceError(f"{what} is larger than {limit:,} bytes", "ask for less of it")

"""What the loop asks of the world: values that a driver performs.

A flow is a generator that yields effects and is sent their results; it does no I/O itself. An
effect names the span that is to be current while it is performed, and only then.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from opentelemetry.trace import Span

from loopspan.flow.events import StreamEvent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, ready to be sent; `provider` names who answers, for error messages.

    `spans` says whether instrumentations of HTTP may make spans of it and propagate its trace.
    """

    provider: str
    url: str
    headers: Mapping[str, str]
    content: bytes
    method: str = "POST"
    spans: bool = True


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer; `content` is empty while a stream is open."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request and read the whole answer; gives an `HttpResponse`."""

    request: HttpRequest
    span: Span


@dataclass(frozen=True, slots=True)
class Open:
    """Send a request and leave the answer open for `Read`; a failed answer is read whole."""

    request: HttpRequest
    span: Span


@dataclass(frozen=True, slots=True)
class Read:
    """Read the next bytes of the open answer; gives `None` at its end."""

    provider: str


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a function beside the flow; its end is told by `Wait`.

    `timeout` is in seconds. A plain function runs in a thread of its own; one that does not
    return in time is left behind, since a thread cannot be stopped. One that is `alone`, with
    nothing else to run meanwhile, and has no timeout may run in the thread of the driver.
    """

    key: int
    function: Callable[[], Any]
    is_async: bool
    span: Span
    timeout: float | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a spawned function: its value or its error; `ended_at` in Unix nanoseconds."""

    key: int
    ended_at: int
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait until one of the spawned functions ends; gives a `Done`."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Emit:
    """Hand an event to whoever consumes the run."""

    event: StreamEvent


Effect: TypeAlias = Send | Open | Read | Spawn | Wait | Sleep | Emit
Flow: TypeAlias = Generator[Effect, Any, T]

"""How a stream's bytes fall into events: SSE, NDJSON, and one JSON array sent piecewise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Framing: TypeAlias = Literal["sse", "ndjson", "json-array"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream: its text (usually JSON), and its name where the framing has one."""

    text: str
    name: str | None = None


class Decoder(Protocol):
    """Turns bytes, cut anywhere, into events."""

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that are whole with this chunk."""

    def close(self) -> Iterator[Event]:
        """Yield what the end of the stream completes."""


def decoder(framing: Framing) -> Decoder:
    """Return a new decoder for one stream."""
    match framing:
        case "sse":
            return _Sse()
        case "ndjson":
            return _Lines()
        case "json-array":
            return _Array()


class _Lines:
    """NDJSON: one JSON value a line (https://github.com/ndjson/ndjson-spec)."""

    def __init__(self) -> None:
        self._rest = b""

    def lines(self, chunk: bytes) -> Iterator[str]:
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")

    def last(self) -> Iterator[str]:
        rest, self._rest = self._rest, b""
        if rest:
            yield rest.removesuffix(b"\r").decode("utf-8", "replace")

    def feed(self, chunk: bytes) -> Iterator[Event]:
        for line in self.lines(chunk):
            if line.strip():
                yield Event(line)

    def close(self) -> Iterator[Event]:
        for line in self.last():
            if line.strip():
                yield Event(line)


class _Sse:
    """Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

    An event that the end of the stream cuts off is still given: providers leave out the last
    blank line. A line that ends in a lone carriage return does not occur with any of them.
    """

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[str] = []
        self._name: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Event]:
        for line in self._lines.lines(chunk):
            yield from self._line(line)

    def close(self) -> Iterator[Event]:
        for line in self._lines.last():
            yield from self._line(line)
        yield from self._line("")

    def _line(self, line: str) -> Iterator[Event]:
        if not line:
            if self._data:
                yield Event("\n".join(self._data), self._name)
            self._data, self._name = [], None
            return
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "data":
            self._data.append(value)
        elif key == "event":
            self._name = value


class _Array:
    """One JSON array whose elements come piecewise (Gemini without `alt=sse`).

    A body that is no array, such as an error object, is given as one event.
    """

    _TOKEN = re.compile(rb'["\\\[\]{}]')

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._seen = 0
        self._start: int | None = None
        self._depth = 0
        self._in_string = False

    def feed(self, chunk: bytes) -> Iterator[Event]:
        self._buffer += chunk
        while token := self._TOKEN.search(self._buffer, self._seen):
            at = token.start()
            self._seen = at + 1
            if self._in_string:
                if token[0] == b"\\":
                    if at + 1 == len(self._buffer):
                        self._seen = at
                        return
                    self._seen = at + 2
                elif token[0] == b'"':
                    self._in_string = False
            elif token[0] == b'"':
                self._in_string = True
            elif token[0] == b"{":
                if self._start is None:
                    self._start, self._depth = at, 0
                self._depth += 1
            elif token[0] == b"}" and self._start is not None:
                self._depth -= 1
                if self._depth == 0:
                    yield Event(
                        bytes(self._buffer[self._start : at + 1]).decode("utf-8", "replace")
                    )
                    del self._buffer[: at + 1]
                    self._start, self._seen = None, 0
        self._seen = len(self._buffer)

    def close(self) -> Iterator[Event]:
        rest = bytes(self._buffer).decode("utf-8", "replace").strip(" \t\r\n,[]")
        self._buffer.clear()
        if rest:
            yield Event(rest)

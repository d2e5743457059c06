"""What every source of runs can do, and what it gives."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from loopspan.errors import ConfigurationError
from loopspan.runs.sources.drivers import Drivers, Flow
from loopspan.runs.sources.query import Query
from loopspan.runs.sources.summary import RunSummary
from loopspan.runs.steps import Run
from loopspan.telemetry.record import SpanRecord

SourceType: TypeAlias = Literal["memory", "file", "jaeger", "tempo"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Runs as a source gave them, and the spans that they were read from.

    `partial` says that the source itself told of something missing, `warnings` are sentences.
    """

    runs: tuple[Run, ...]
    spans: tuple[SpanRecord, ...] = ()
    partial: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Runs as they stand in a list, the newest first."""

    runs: tuple[RunSummary, ...]
    partial: bool = False
    warnings: tuple[str, ...] = ()


class Source(ABC):
    """Where runs come from. Its methods raise `SourceError`, or `RunNotFound`, which is one."""

    type: ClassVar[SourceType]

    def __init__(self, name: str, drivers: Drivers | None = None) -> None:
        self.name = name
        self._drivers = drivers or Drivers()

    def fetch(self, id: str) -> Fetched:
        """Return the runs of a trace."""
        return self._drivers.perform(self._fetch(id))

    async def afetch(self, id: str) -> Fetched:
        """Return the runs of a trace."""
        return await self._drivers.aperform(self._fetch(id))

    def search(self, query: Query | None = None) -> Listing:
        """Return what is there, the newest runs first."""
        return self._drivers.perform(self._search(query or Query()))

    async def asearch(self, query: Query | None = None) -> Listing:
        """Return what is there, the newest runs first."""
        return await self._drivers.aperform(self._search(query or Query()))

    @abstractmethod
    def _fetch(self, id: str) -> Flow[Fetched]: ...

    @abstractmethod
    def _search(self, query: Query) -> Flow[Listing]: ...


def trace_id(text: str) -> str:
    """Return a trace id as 32 lower-case hex digits; backends leave out leading zeros.

    Raises `ConfigurationError` for anything else.
    """
    if not re.fullmatch("[0-9a-fA-F]{16,32}", text, re.ASCII) or not text.strip("0"):
        raise ConfigurationError(f"{text[:80]!r} is no trace id; give its 32 hex digits")
    return text.lower().zfill(32)


def newest(runs: Iterable[RunSummary], limit: int) -> tuple[RunSummary, ...]:
    """Return the newest runs, the last one started first."""
    return tuple(sorted(runs, key=lambda run: (-run.started_at, run.run_id or ""))[:limit])

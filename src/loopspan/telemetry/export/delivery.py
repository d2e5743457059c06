"""What a queue and its exporter share: what became of the spans, and how long there is left."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from typing import Literal, TypeAlias

from opentelemetry import metrics

from loopspan.telemetry import semconv as names

logger = logging.getLogger("loopspan.export")

Reason: TypeAlias = Literal["queue_full", "too_large", "refused", "unreachable", "shutdown"]
"""Why a span was dropped: no room, larger than the receiver takes even when cut, refused for what
it is, never accepted in the time there was, left when the program ended."""

_QUIET = 60.0
"""Seconds in which a reason is logged once."""


class Delivery:
    """The account of one export: `sent` and `shrunk` spans, `dropped` ones by reason.

    `problem` is what the receiver, or the way there, last had against something.
    """

    def __init__(self) -> None:
        # Without a meter provider this counts nowhere, and costs nothing.
        self._metric = metrics.get_meter("loopspan").create_counter(
            names.EXPORT_DROPPED, unit="{span}", description="Spans that were not exported"
        )
        self.begin()

    def begin(self) -> None:
        """Count from zero, as in a child process: what the parent has sent is the parent's."""
        self.sent = 0
        self.shrunk = 0
        self.problem: str | None = None
        self._dropped: Counter[Reason] = Counter()
        self._logged: dict[Reason, float] = {}
        # A signal handler may end a span while its thread counts another.
        self._lock = threading.RLock()
        self._deadline = float("inf")
        self._hurried = threading.Event()

    @property
    def dropped(self) -> dict[Reason, int]:
        """How many spans were dropped, by reason."""
        with self._lock:
            return dict(self._dropped)

    def add_sent(self, count: int) -> None:
        """Count spans that the receiver has taken."""
        with self._lock:
            self.sent += count

    def add_shrunk(self) -> None:
        """Count a span that was cut to be taken at all."""
        with self._lock:
            self.shrunk += 1

    def drop(self, count: int, reason: Reason) -> None:
        """Count spans that are dropped, and say so in the log, at most once a minute."""
        if count < 1:
            return
        now = time.monotonic()
        with self._lock:
            self._dropped[reason] += count
            total = self._dropped[reason]
            tell = now >= self._logged.get(reason, 0.0)
            if tell:
                self._logged[reason] = now + _QUIET
        self._metric.add(count, {"reason": reason})
        if tell:
            why = f": {self.problem}" if self.problem else ""
            logger.warning("%d spans are not exported, %s%s", total, reason, why)

    def hurry(self, seconds: float) -> None:
        """Leave at most so many seconds from now for all that is still to be sent."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)
        self._hurried.set()

    @property
    def left(self) -> float:
        """The seconds that are left; infinite until somebody hurries."""
        return max(0.0, self._deadline - time.monotonic())

    def wait(self, seconds: float) -> None:
        """Wait before the next attempt; a hurry wakes it up once."""
        if self._hurried.is_set():
            time.sleep(min(seconds, self.left))
        else:
            self._hurried.wait(seconds)

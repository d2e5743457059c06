"""What happens in runs, numbered and kept for a while, so that a page can go on later."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from loopspan.playground.bodies import Shape
from loopspan.playground.header import MEMORY, totals
from loopspan.playground.store import Store
from loopspan.playground.view import RunView
from loopspan.runs import RunEvent

KEPT = 20_000
"""How many events are kept for readers that come back."""
MOST_WAITING = 20_000
"""How many events of runs may wait for the server's loop; past that they are lost and told."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something to tell the pages; `run_id` `None` tells all of them."""

    seq: int
    name: str
    run_id: str | None
    data: Shape


class Hub:
    """Listens to `RunTrace` in the threads of runs, and tells readers in the server's loop."""

    def __init__(self, store: Store) -> None:
        self.epoch = secrets.token_hex(8)
        self.seq = 0
        self._store = store
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._views: dict[str, RunView] = {}
        self._wakers: set[asyncio.Event] = set()
        self._waiting: deque[RunEvent] = deque()
        self._lost = 0
        self._lock = threading.Lock()
        self._scheduled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], None] | None = None

    def start(self) -> None:
        """Listen from now on; does nothing where it listens already."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self.stop()
            # What happened while nobody listened is a gap for readers that come back.
            self.seq += 1
            self._events.clear()
            self._views.clear()
            self._loop = loop
            self._stop = self._store.run_trace.subscribe(self._heard)

    def stop(self) -> None:
        """Listen no more."""
        if self._stop is not None:
            self._stop()
        self._stop = self._loop = None

    @property
    def readers(self) -> int:
        """How many streams wait for news."""
        return len(self._wakers)

    @property
    def first(self) -> int:
        """The number of the oldest event that is kept."""
        return self._events[0].seq if self._events else self.seq + 1

    def since(self, seq: int) -> list[Event]:
        """Return the events after this one, as far as they are kept."""
        found: list[Event] = []
        for event in reversed(self._events):
            if event.seq <= seq:
                break
            found.append(event)
        return found[::-1]

    def watch(self, waker: asyncio.Event) -> Callable[[], None]:
        """Set the event whenever something happens; returns a way to stop it."""
        self._wakers.add(waker)
        return lambda: self._wakers.discard(waker)

    def tell(self, name: str, run_id: str | None, data: Shape) -> None:
        """Add an event; for callers in the server's loop."""
        self.seq += 1
        self._events.append(Event(self.seq, name, run_id, data))
        for waker in self._wakers:
            waker.set()

    def _heard(self, event: RunEvent) -> None:
        """Take an event in the thread of the run, which does not wait."""
        loop = self._loop
        if loop is None:
            return
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                self._lost += 1
                return
            self._waiting.append(event)
            if self._scheduled:
                return
            self._scheduled = True
        try:
            loop.call_soon_threadsafe(self._drain)
        except RuntimeError:  # the server's loop is over
            self._scheduled = False

    def _drain(self) -> None:
        with self._lock:
            events, self._waiting = self._waiting, deque()
            lost, self._lost = self._lost, 0
            self._scheduled = False
        for event in events:
            self._take(event)
        if lost:
            self._views.clear()
            gap = {"from": self.seq + 1, "to": self.seq + 1, "why": f"{lost} events were lost"}
            self.tell("gap", None, gap)

    def _take(self, event: RunEvent) -> None:
        view = self._views.get(event.run_id)
        if view is None:
            view = self._begin(event.run_id)
            if view is None:
                return
        before = list(view.steps)
        changed = [] if event.step is None else view.put(event.step)
        if event.run is not None:
            changed = [*changed, *view.close(event.run)]
        if not _in_order(view.steps, len(before)):
            self._begin(event.run_id, why="a step has started before another that came first")
        else:
            for n in changed:
                self._tell_step(event.run_id, view.steps[n - 1], before[n - 1 : n])
        if event.run is not None:
            del self._views[event.run_id]
        if event.run is not None or _settles(view, changed):
            self.tell("run", event.run_id, self._header(view, over=event.run is not None))
        if event.run is not None:
            for finding in view.header["findings"]:
                self.tell("finding", event.run_id, {"run_id": event.run_id, "finding": finding})
            end = {"run_id": event.run_id, "status": event.run.outcome}
            self.tell("end", event.run_id, end)

    def _begin(self, run_id: str, why: str | None = None) -> RunView | None:
        """Read a run as far as it has come, and tell it from its beginning."""
        run = self._store.run_trace.run(run_id)
        if run is None:
            return None
        view = self._views[run_id] = RunView(run, MEMORY, self._store.hasher)
        if why is not None:
            gap = {"run_id": run_id, "from": self.seq + 1, "to": self.seq + 1, "why": why}
            self.tell("gap", run_id, gap)
            return view
        self.tell("run", run_id, self._header(view, over=run.outcome != "running"))
        for step in view.steps:
            self._tell_step(run_id, step, [])
        return view

    def _header(self, view: RunView, *, over: bool) -> Shape:
        shape = view.header
        return self._store.labelled(shape if over else {**shape, **totals(view.steps)})

    def _tell_step(self, run_id: str, step: Shape, before: list[Shape]) -> None:
        if not before:
            self.tell("step", run_id, {"run_id": run_id, "step": step})
            return
        fields = {k: v for k, v in step.items() if k not in before[0] or before[0][k] != v}
        if fields:
            fields["missing"] = step["missing"]
            self.tell("patch", run_id, {"run_id": run_id, "n": step["n"], "fields": fields})


def _in_order(steps: list[Shape], known: int) -> bool:
    """Whether the steps that are new have started after all those that were known."""
    latest = int(steps[known - 1]["started_at"]) if known else 0
    return all(int(step["started_at"]) >= latest for step in steps[known:])


def _settles(view: RunView, changed: list[int]) -> bool:
    """Whether one of these steps is over, so that the totals of the run are new."""
    return any(view.steps[n - 1]["kind"] in ("chat", "tool") for n in changed)

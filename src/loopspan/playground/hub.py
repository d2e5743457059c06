"""What happens in runs, numbered and kept for a while, so that a page can go on later."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from loopspan.playground.bodies import Shape
from loopspan.playground.header import MEMORY, totals
from loopspan.playground.store import MOST_VIEWS, Store
from loopspan.playground.view import RunView
from loopspan.runs import RunEvent
from loopspan.runs.events import RunEvents

logger = logging.getLogger("loopspan.playground")

KEPT = 10_000
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
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heard: RunEvents | None = None
        self._task: asyncio.Task[None] | None = None

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
            self._heard = self._store.run_trace.events(MOST_WAITING)
            self._task = loop.create_task(self._read(self._heard), name="playground hub")

    def stop(self) -> None:
        """Listen no more."""
        if self._heard is not None:
            self._heard.close()
        self._heard = self._task = self._loop = None

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

    def waiting(self, run_id: str, round: int) -> int | None:
        """Return the number of the answer that this round of a run waits for."""
        view = self._views.get(run_id)
        open_ = [] if view is None else [s for s in view.steps if s["state"] == "open"]
        found = [s["n"] for s in open_ if s["kind"] == "chat" and s["round"] == round]
        return found[-1] if found else None

    async def _read(self, events: RunEvents) -> None:
        """Take what happens, in the server's loop; runs never wait for it."""
        async for event in events:
            if event.lost:
                self._views.clear()
                self._gap(None, f"{event.lost} events were lost")
            else:
                self._take_safely(event)
            await asyncio.sleep(0)  # requests come between two events, however many there are

    def _take_safely(self, event: RunEvent) -> None:
        """Take an event; one that cannot be taken is a gap, and the next ones are told."""
        try:
            self._take(event)
        except Exception:
            logger.exception("an event of a run could not be told")
            self._views.pop(event.run_id, None)
            self._gap(event.run_id, "an event could not be told")

    def _gap(self, run_id: str | None, why: str) -> None:
        """Tell readers to load the run again, or all of them."""
        told = {} if run_id is None else {"run_id": run_id}
        self.tell("gap", run_id, {**told, "from": self.seq + 1, "to": self.seq + 1, "why": why})

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
        if len(self._views) >= MOST_VIEWS:
            # A run that was dropped while it went on has no end.
            kept = set(self._store.run_trace.run_ids())
            self._views = {each: view for each, view in self._views.items() if each in kept}
        view = self._views[run_id] = RunView(run, MEMORY, self._store.hasher)
        if why is not None:
            self._gap(run_id, why)
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

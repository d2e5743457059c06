"""The runs that the page can open: those in memory, and those that were read from elsewhere."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from loopspan.playground.answers import Problem
from loopspan.playground.bodies import Bodies, Hasher, Shape
from loopspan.playground.detail import detail, span_of
from loopspan.playground.header import MEMORY, Source, header
from loopspan.playground.view import RunView, parents_of
from loopspan.runs import Run, RunTrace, read_run
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

MOST_VIEWS = 32
"""How many runs are kept in their light form; others are read again when they are opened."""
MOST_OPENED = 64 * 1024 * 1024
"""The bytes of runs of files and backends that are kept beside those in memory."""
MOST_SEEN = 10_000
"""How many ids of runs are remembered, to tell a run that was dropped from one that never was."""


@dataclass(frozen=True, slots=True)
class Label:
    """What people put on a run."""

    title: str | None = None
    pinned: bool = False
    note: str | None = None


@dataclass(frozen=True)
class Found:
    """The spans of a run and where they come from."""

    source: Source
    spans: tuple[SpanRecord, ...]

    @property
    def version(self) -> object:
        """What is another as soon as there is more of the run."""
        return len(self.spans), sum(span.ended_at is not None for span in self.spans)

    def read(self) -> Run:
        """Return the run."""
        return read_run(self.spans)

    def listed(self, run: Run) -> Shape:
        """Return the run without its steps, and the span that it was started from."""
        agent = span_of((s for s in self.spans if _is_of(s, run)), None)
        parent = None if agent is None else agent.parent_id
        return {**header(run, self.source), "parent_span_id": parent}


@dataclass(frozen=True)
class Opened(Found):
    """A run that was read from a file or a backend; one that was written as a run has no spans."""

    run: Run
    bytes: int

    @property
    def version(self) -> object:
        return id(self)

    @cached_property
    def header(self) -> Shape:
        """The run without its steps."""
        return self.listed(self.run)

    def read(self) -> Run:
        return self.run


class Store:
    """Finds runs and their bodies; everything that it keeps is bounded."""

    def __init__(self, run_trace: RunTrace) -> None:
        self.run_trace = run_trace
        self.hasher = Hasher()
        self.shared = Bodies(self.hasher)
        """Bodies that belong to no run: the definitions of the tools that there are."""
        self.labels: dict[str, Label] = {}
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._views: OrderedDict[tuple[str, str], tuple[object, RunView]] = OrderedDict()
        self._headers: dict[tuple[str, str], Shape] = {}
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, runs: Sequence[Opened]) -> None:
        """Take runs of a file or a backend; the oldest ones make room."""
        for each in runs:
            key = (each.source.type, each.run.run_id)
            self._opened[":".join(key)] = each
            self._opened.move_to_end(":".join(key))
            self._headers.pop(key, None)
        # One that is too large by itself is kept all the same: it was asked for.
        while len(self._opened) > 1 and self._opened_bytes() > MOST_OPENED:
            self._opened.popitem(last=False)

    def _opened_bytes(self) -> int:
        return sum(each.bytes for each in self._opened.values())

    def find(self, run_id: str, source: str | None = None) -> Found:
        """Return where a run is; raises a `Problem` where it is nowhere."""
        spans = self.run_trace.spans(run_id) if source in (None, "memory") else ()
        if spans:
            self._remember((run_id,))
            return Found(MEMORY, spans)
        for each in reversed(self._opened.values()):
            if each.run.run_id == run_id and source in (None, each.source.type):
                return each
        raise self._absent(run_id)

    def run(self, run_id: str, source: str | None = None) -> Run:
        """Return a run as it is, with its steps; raises a `Problem` where it is nowhere."""
        return self.find(run_id, source).read()

    def view(self, run_id: str, source: str | None = None) -> RunView:
        """Return a run in its light form; raises a `Problem` where it is not there."""
        found = self.find(run_id, source)
        key = (found.source.type, run_id)
        version = found.version
        with self._lock:
            known = self._views.get(key)
            if known is None or known[0] != version:
                parents = parents_of(found.spans)
                view = RunView(found.read(), found.source, self.hasher, parents)
                known = self._views[key] = (version, view)
            self._views.move_to_end(key)
            while len(self._views) > MOST_VIEWS:
                self._views.popitem(last=False)
            return known[1]

    def children(self, view: RunView) -> list[Shape]:
        """Return the runs that tools of this run have started, with the step that did."""
        steps = {step["span_id"]: step["n"] for step in view.steps if step["kind"] == "tool"}
        return [
            {"run_id": run["run_id"], "n": steps[run["parent_span_id"]]}
            for run in self.headers()
            if run["parent_span_id"] in steps and run["source"] == view.source.shape()
        ]

    def opened_header(self, run_id: str) -> Shape:
        """Return a run that was read from elsewhere, without its steps."""
        found = next(o for o in reversed(self._opened.values()) if o.run.run_id == run_id)
        return self.labelled(found.header)

    def body(self, h: str, run_id: str | None = None, source: str | None = None) -> bytes:
        """Return a body by its hash; raises a `Problem` where it is not kept any more."""
        if run_id is not None:
            self.view(run_id, source)
        with self._lock:
            known = [self.shared, *(view.bodies for _, view in reversed(self._views.values()))]
        for bodies in known:
            body = bodies.get(h)
            if body is not None:
                return body
        if run_id is not None:
            body = self._attribute(h, self.find(run_id, source))
            if body is not None:
                return body
        raise Problem(
            410,
            "evicted",
            "this body is not kept any more",
            hint="load the run again; if it was dropped from memory, open it from a backend",
        )

    def _attribute(self, h: str, found: Found) -> bytes | None:
        """Return a long attribute of a run: it is told with its step and kept with its span."""
        for span in found.spans:
            bodies = Bodies(self.hasher)
            detail(span, bodies, content=True)
            if h in bodies:
                return bodies.get(h)
        return None

    def headers(self) -> list[Shape]:
        """Return all runs without their steps, in no order."""
        with self._lock:
            return list(self._all_headers())

    def _all_headers(self) -> Iterator[Shape]:
        ids = self.run_trace.run_ids()
        self._remember(ids)
        for run_id in ids:
            shape = self._headers.get(("memory", run_id))
            if shape is None:
                found = Found(MEMORY, self.run_trace.spans(run_id))
                if not found.spans:
                    continue
                run = found.read()
                shape = found.listed(run)
                if run.outcome != "running":
                    self._headers["memory", run_id] = shape
            yield self.labelled(shape)
        for each in self._opened.values():
            yield self.labelled(each.header)
        kept = set(ids)
        for key in [k for k in self._headers if k[1] not in kept]:
            del self._headers[key]

    def label(self, run_id: str, changes: Mapping[str, Any]) -> None:
        """Change what people have put on a run; labels of runs that are gone are forgotten."""
        kept = {*self.run_trace.run_ids(), *(each.run.run_id for each in self._opened.values())}
        self.labels = {each: label for each, label in self.labels.items() if each in kept}
        self.labels[run_id] = replace(self.labels.get(run_id, _NO_LABEL), **changes)

    def labelled(self, shape: Shape) -> Shape:
        """Return a header with what people put on the run."""
        label = self.labels.get(shape["run_id"], _NO_LABEL)
        title = shape["title"] if label.title is None else label.title
        return {**shape, "title": title, "pinned": label.pinned, "note": label.note}

    def _remember(self, ids: Iterable[str]) -> None:
        self._seen.update(dict.fromkeys(ids))
        while len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)

    def _absent(self, run_id: str) -> Problem:
        if self.run_trace.spans(run_id):
            return Problem(404, "unknown_run", "the run is in memory, and not from this source")
        if run_id in self._seen:
            return Problem(
                410,
                "evicted",
                "this run was dropped: the memory for runs is bounded",
                hint="open it from a backend by its trace id, if it was exported",
            )
        return Problem(
            404,
            "unknown_run",
            "this process has no such run",
            hint="memory is per process; another worker may have it, or a backend",
        )


_NO_LABEL = Label()


def _is_of(span: SpanRecord, run: Run) -> bool:
    return span.attributes.get(names.RUN_ID) in (None, run.run_id)

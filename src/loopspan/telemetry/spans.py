"""The spans of a run, seen from the business side: an invocation is a `with` and an assignment.

An invocation starts its span at once, with what samplers and live readers need, and ends it once,
with everything else in one call. It never makes its span current: that is done around single
effects, by whoever performs them. The same attributes feed the span and `snapshot()`.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from loopspan.errors import LoopspanError
from loopspan.jsontext import well_formed
from loopspan.telemetry import semconv as names
from loopspan.telemetry.compat import with_older_names
from loopspan.telemetry.content import Content
from loopspan.telemetry.limits import TextLimits, text_limits
from loopspan.telemetry.metrics import Instruments, instruments
from loopspan.telemetry.record import SpanEvent, SpanRecord
from loopspan.telemetry.trimming import Cuts
from loopspan.telemetry.unrecorded import Unrecorded

VERSION = "0.1.0"

logger = logging.getLogger("loopspan.telemetry")

Messages: TypeAlias = Literal["new", "full"]
"""What the spans of later rounds carry: the messages that are new, or the whole list."""

strict = False
"""Whether failures of telemetry are raised: never in a program, always under test."""


class _NeverRaising:
    """Holds nothing, so that one is enough; it stands around every span."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> bool:
        if strict or not isinstance(exc, Exception):
            return False
        logger.warning("a span could not be recorded; the run goes on", exc_info=exc)
        return True


_NEVER_RAISING = _NeverRaising()


def never_raising() -> AbstractContextManager[None, bool]:
    """Keep a failing span processor, exporter or sampler away from the traced program."""
    return _NEVER_RAISING


def get_instruments(provider: MeterProvider | None) -> Instruments | None:
    """Return loopspan's instruments of this provider, else of the global one; `None`: no metrics.

    They are asked for run by run: a program may set its provider later.
    """
    found: Instruments | None = None
    with never_raising():
        found = instruments(provider, VERSION)
    return found


def get_tracer(provider: trace.TracerProvider | None) -> trace.Tracer:
    """Return loopspan's tracer of this provider, else of the global one, set now or later."""
    tracer: trace.Tracer = trace.NoOpTracer()
    with never_raising():
        tracer = trace.get_tracer("loopspan", VERSION, provider, names.SCHEMA_URL)
    return tracer


@dataclass(slots=True)
class SpanSettings:
    """What all spans of one run share."""

    tracer: trace.Tracer
    content: Content = "off"
    messages: Messages = "new"
    capture_raw: bool = False
    compat: bool = False
    """Whether spans carry older names of attributes too."""
    unrecorded: Unrecorded = field(default_factory=Unrecorded)
    """The tools whose arguments and results stay out."""
    shared: dict[str, Any] = field(default_factory=dict)
    """Attributes of every span of the run: run id, conversation, user, metadata."""
    metrics: Instruments | None = None
    """What the operations are measured with, if anybody asks for metrics."""
    limits: TextLimits = field(init=False)
    """What the SDK cuts; content is cut before, so that it stays readable."""

    def __post_init__(self) -> None:
        self.limits = text_limits(self.tracer)


class Invocation:
    """One operation of a run and its span."""

    kind: ClassVar[SpanKind] = SpanKind.INTERNAL
    tells_exception: ClassVar[bool] = True
    """Whether an exception becomes an event here; it is told once, where it happened."""

    def __init__(self, settings: SpanSettings, name: str, parent: Invocation | None) -> None:
        self.settings = settings
        self.name = well_formed(name)
        self.parent = parent
        self.started_at = time.time_ns()
        self.ended_at: int | None = None
        self.error: BaseException | None = None
        self.outcome: str | None = None
        self._events: list[SpanEvent] = []
        self._cuts: Cuts = {}
        self.span: Span = trace.INVALID_SPAN
        if parent is None or parent.is_traced:
            with never_raising():
                self.span = self._started(parent)

    def _started(self, parent: Invocation | None) -> Span:
        context = None if parent is None else trace.set_span_in_context(parent.span)
        recorded = parent is None or parent.span.is_recording()
        attributes = self.attributes_at_start() if recorded else self.attributes_for_sampling()
        return self.settings.tracer.start_span(
            self.name, context, self.kind, self._named(attributes), start_time=self.started_at
        )

    @property
    def is_traced(self) -> bool:
        """Whether anybody may see spans below this one: a program without a provider has none."""
        return self.span.is_recording() or self.span.get_span_context().is_valid

    @property
    def content(self) -> Content:
        """What may be recorded of what the operation took and gave."""
        return self.settings.content

    @property
    def error_content(self) -> Content:
        """What may be recorded of an error; a provider's may repeat what it was sent."""
        return "off" if self.settings.unrecorded else self.settings.content

    def attributes_for_sampling(self) -> dict[str, Any]:
        """Return what a sampler may decide by."""
        return dict(self.settings.shared)

    def attributes_at_start(self) -> dict[str, Any]:
        """Return all that is known before the operation."""
        return self.attributes_for_sampling()

    def attributes_at_end(self) -> dict[str, Any]:
        """Return what the operation added."""
        return {}

    def add_event(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Add an event to the span."""
        now, told = time.time_ns(), self._told(name, attributes)
        self._events.append(SpanEvent(name, now, told))
        with never_raising():
            self.span.add_event(name, told, now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if exc is not None:
            self.fail(exc)
        self.end()

    def fail(self, error: BaseException) -> None:
        """Say what ended the operation; the first error stays."""
        if self.error is not None:
            return
        if isinstance(error, GeneratorExit):
            self.outcome = "abandoned"
            return
        self.error = error
        if not isinstance(error, Exception):
            self.outcome = "cancelled"

    def end(self, ended_at: int | None = None) -> None:
        """End the span, once."""
        if self.ended_at is not None:
            return
        self.ended_at = ended_at or time.time_ns()
        with never_raising():
            try:
                if self.span.is_recording():
                    self._complete()
            finally:
                self.span.end(self.ended_at)
        if self.settings.metrics is not None:
            with never_raising():
                self.measure(self.settings.metrics, trace.set_span_in_context(self.span))

    def measure(self, instruments: Instruments, context: Context) -> None:
        """Record the metrics of the operation, which has ended."""

    @property
    def seconds(self) -> float:
        """How long the operation took, or has taken so far."""
        return ((self.ended_at or time.time_ns()) - self.started_at) / 1e9

    @property
    def error_type(self) -> str | None:
        """The value of `error.type`, `None` without an error."""
        return None if self.error is None else error_type(self.error)

    def _complete(self) -> None:
        error = self.error
        if error is not None:
            if isinstance(error, Exception) and self.tells_exception:
                self.span.add_event(names.EXCEPTION_EVENT, self._exception(error), self.ended_at)
            self.span.set_status(Status(StatusCode.ERROR, self._status_message()))
        self.span.set_attributes(self._named(self.all_attributes_at_end()))

    def _named(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes as the span carries them."""
        attributes = self._within_limits(attributes)
        return with_older_names(attributes) if self.settings.compat else attributes

    def _within_limits(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return self.settings.limits.attributes(exportable(attributes), self._cuts)

    def _told(self, event: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes of an event as the span carries them."""
        limits = self.settings.limits
        return limits.event_attributes(event, exportable(attributes), self._cuts)

    def all_attributes_at_end(self) -> dict[str, Any]:
        """Return `attributes_at_end` and what every operation has: its error, its outcome."""
        attributes = self.attributes_at_end()
        if self.error is not None:
            attributes[names.ERROR_TYPE] = self.error_type
        if self.outcome is not None:
            attributes[names.OUTCOME] = self.outcome
        return attributes

    def _status_message(self) -> str | None:
        if self.error is None:
            return None
        if self.error_content == "full":
            return _said(self.error)
        return self.error.summary if isinstance(self.error, LoopspanError) else None

    def _exception(self, error: Exception) -> dict[str, Any]:
        told: dict[str, Any] = {names.EXCEPTION_TYPE: _qualified(type(error))}
        if self.error_content == "full":
            told[names.EXCEPTION_MESSAGE] = _said(error)
            told[names.EXCEPTION_STACKTRACE] = "".join(traceback.format_exception(error))
        return self._told(names.EXCEPTION_EVENT, told)

    def snapshot(self) -> SpanRecord:
        """Return the span as plain data, whether or not anybody recorded it."""
        context = self.span.get_span_context()
        attributes = self._within_limits(self.attributes_at_start() | self.all_attributes_at_end())
        parent = trace.INVALID_SPAN_CONTEXT if self.parent is None else self.parent.span_context
        return SpanRecord(
            self.name,
            f"{context.trace_id:032x}" if context.is_valid else None,
            f"{context.span_id:016x}" if context.is_valid else None,
            f"{parent.span_id:016x}" if parent.is_valid else None,
            self.started_at,
            self.ended_at,
            attributes,
            tuple(self._events),
            "unset" if self.error is None else "error",
            self._status_message(),
        )

    @property
    def span_context(self) -> trace.SpanContext:
        """The ids of the span."""
        return self.span.get_span_context()


def exportable(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes as OTLP can carry them, whatever models and tools put into them.

    Lone surrogates become U+FFFD: one of them would cost the whole batch that it is exported in.
    A number beyond 64 bits is left out.
    """
    told: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, str):
            told[name] = well_formed(value)
        elif isinstance(value, int):
            if -(2**63) <= value < 2**63:
                told[name] = value
        elif isinstance(value, list | tuple):
            told[name] = [well_formed(v) if isinstance(v, str) else v for v in value]
        else:
            told[name] = value
    return told


def _said(error: BaseException) -> str:
    try:
        return well_formed(str(error))
    except Exception:  # noqa: BLE001  # an exception of a tool may fail to tell itself
        return "<exception str() failed>"


def error_type(error: BaseException) -> str:
    """Return the value of `error.type`: our own word, `cancelled`, or the exception's class."""
    if isinstance(error, LoopspanError):
        return error.error_type
    if not isinstance(error, Exception):
        return "cancelled"
    return _qualified(type(error))


def _qualified(cls: type[BaseException]) -> str:
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"

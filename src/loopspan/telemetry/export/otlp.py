"""The exporter: spans are encoded once, sent in requests of bounded size, and cut where they must.

What the receiver refuses for its size is halved and sent again; a single span that is too large is
cut, so that its small facts arrive. What the receiver cannot take now is sent again, later.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from loopspan.errors import ConfigurationError
from loopspan.telemetry.export.delivery import Delivery
from loopspan.telemetry.export.encoding import Encoded, encoded, request
from loopspan.telemetry.export.settings import Settings, protocol, settings
from loopspan.telemetry.export.transport import HttpTransport, Outcome, Transport
from loopspan.telemetry.outgoing import Outgoing, OutgoingSpan, fitting

MAX_REQUEST_BYTES = 3_500_000
"""Under the 4 MiB that gRPC receivers take by default, with room for what is around the spans."""
PATIENCE = 300.0
"""Seconds after which a request that nobody takes is given up."""

_AROUND = 4096
"""What a resource and scopes may take in a request, about; in bytes."""
_LEAST_TELLING = 256 * 1024
"""A smaller request that is answered with 400 was not refused for its size."""
_LIMITS = (262_144, 65_536, 16_384, 4096, 1024, 256)
"""What texts of a span are cut to, in bytes, until it fits."""
_LONGEST_WAIT = 30.0


class OtlpExporter(SpanExporter):
    """Exports spans over OTLP, as the standard variables say; for any span processor.

    `delivery` counts what became of them. A request that the receiver cannot take now is sent again
    after `base_delay` seconds, twice that, and so on, or when the receiver says, until `patience`
    seconds are over. Raises `ConfigurationError` for variables that cannot be.
    """

    def __init__(
        self,
        delivery: Delivery | None = None,
        *,
        max_request_bytes: int = MAX_REQUEST_BYTES,
        patience: float = PATIENCE,
        base_delay: float = 1.0,
        given: Settings | None = None,
    ) -> None:
        self.delivery = delivery or Delivery()
        self._max_bytes = max_request_bytes
        self._patience = patience
        self._base_delay = base_delay
        spoken = protocol()
        self._settings = given or settings(spoken)
        self._transport = _transport(spoken, self._settings)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send these spans; a failure says that at least one of them was dropped."""
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            results = [(len(batch), self._deliver(batch)) for batch in self._batches(spans)]
        finally:
            detach(token)
        complete = sum(count for count, _ in results) == len(spans)
        done = complete and all(taken for _, taken in results)
        return SpanExportResult.SUCCESS if done else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Close the connection."""
        self._transport.close()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Return at once: nothing waits here."""
        return True

    def after_fork(self) -> None:
        """Leave the parent's connection alone."""
        self._transport = _transport(protocol(), self._settings)

    def _batches(self, spans: Sequence[ReadableSpan]) -> Iterator[list[Encoded]]:
        room = self._max_bytes - _AROUND
        batch: list[Encoded] = []
        size = 0
        for span in spans:
            each = self._encoded(span, room)
            if each is None:
                continue
            if batch and size + len(each.data) > room:
                yield batch
                batch, size = [], 0
            batch.append(each)
            size += len(each.data)
        if batch:
            yield batch

    def _encoded(self, span: ReadableSpan, room: int) -> Encoded | None:
        """Return the span as it fits; `None`, and counted, where it cannot be encoded or cut."""
        try:
            each = encoded(span)
            return each if len(each.data) <= room else self._shrunk(each, room)
        except Exception as error:  # noqa: BLE001  # one odd span must not cost the others
            self.delivery.problem = f"a span cannot be encoded ({type(error).__name__})"
            self.delivery.drop(1, "refused")
            return None

    def _deliver(self, batch: list[Encoded]) -> bool:
        data = b""
        try:
            data = request(batch)
            outcome = self._sent(data)
        except Exception as error:  # noqa: BLE001  # such as a certificate that is not there
            # Its text may hold a header, and with it a key.
            outcome = Outcome("refused", f"a request cannot be made ({type(error).__name__})")
        if outcome.problem is not None:
            self.delivery.problem = outcome.problem
        match outcome.verdict:
            case "accepted":
                self.delivery.add_sent(len(batch) - outcome.rejected)
                self.delivery.drop(outcome.rejected, "refused")
                return not outcome.rejected
            case "retry":
                self.delivery.drop(len(batch), "unreachable")
            case "too_large" if outcome.size_told or len(data) > _LEAST_TELLING:
                return self._in_parts(batch)
            case _:
                self.delivery.drop(len(batch), "refused")
        return False

    def _in_parts(self, batch: list[Encoded]) -> bool:
        if len(batch) > 1:
            half = len(batch) // 2
            first = self._deliver(batch[:half])
            return self._deliver(batch[half:]) and first
        [each] = batch
        smaller = self._shrunk(each, len(each.data) // 2)
        return smaller is not None and self._deliver([smaller])

    def _shrunk(self, each: Encoded, room: int) -> Encoded | None:
        """Return the span with its texts cut until it fits, `None` where it cannot."""
        for limit in _LIMITS:
            short = fitting(Outgoing.of(each.span), limit)
            smaller = encoded(OutgoingSpan(each.span, short))
            if len(smaller.data) <= room:
                if not isinstance(each.span, _Shrunk):
                    self.delivery.add_shrunk()
                return Encoded(_Shrunk(each.span, short), smaller.data)
        self.delivery.drop(1, "too_large")
        return None

    def _sent(self, data: bytes) -> Outcome:
        """Send a request, again and again while the receiver asks for it and there is time."""
        delivery, until = self.delivery, time.monotonic() + self._patience
        wait = self._base_delay
        while True:
            if not delivery.left:
                return Outcome("retry", delivery.problem or "there was no time left")
            timeout = min(self._settings.timeout, delivery.left)
            outcome = self._transport.send(data, timeout)
            if outcome.verdict != "retry":
                return outcome
            delivery.problem = outcome.problem
            delay = wait * random.uniform(0.75, 1.25)  # noqa: S311
            delay = outcome.retry_after if outcome.retry_after is not None else delay
            if time.monotonic() + delay > until or delay >= delivery.left:
                return outcome
            delivery.wait(delay)
            wait = min(2 * wait, _LONGEST_WAIT)


class _Shrunk(OutgoingSpan):
    """A span that was cut once already."""


def _transport(spoken: str, given: Settings) -> Transport:
    match spoken:
        case "grpc":
            # It costs a tenth of a second to import.
            from loopspan.telemetry.export.grpc import GrpcTransport

            return GrpcTransport(given)
        case "http/protobuf":
            return HttpTransport(given)
    raise ConfigurationError(
        f"OTEL_EXPORTER_OTLP_PROTOCOL is {spoken!r}; use http/protobuf or grpc"
    )

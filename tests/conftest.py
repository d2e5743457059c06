"""What holds for the whole suite."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from loopspan.telemetry import spans as span_layer

# A slow machine is no failure.
settings.register_profile("loopspan", deadline=None)
settings.load_profile("loopspan")


@pytest.fixture(autouse=True, scope="session")
def telemetry_raises() -> Iterator[None]:
    """A failure of telemetry fails the test that meets it; in programs it is logged at most."""
    before, span_layer.strict = span_layer.strict, True
    yield
    span_layer.strict = before


@pytest.fixture(autouse=True, scope="session")
def interrupts_arrive() -> Iterator[None]:
    """A shell that starts the suite in the background lets it and its programs ignore Ctrl-C."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

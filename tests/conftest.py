"""What holds for the whole suite."""

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

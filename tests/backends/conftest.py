"""The real backends the tests of this folder send to."""

from collections.abc import Iterator

import pytest

from tests.backends.build import BuildError, build
from tests.backends.jaeger_server import Jaeger, running_jaeger
from tests.requirements import require_or_skip


@pytest.fixture(scope="session")
def jaeger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """A Jaeger of this test session's own."""
    try:
        program = build("jaeger")
    except BuildError as error:
        require_or_skip("backends", f"Jaeger cannot be built: {error}")
    with running_jaeger(program, tmp_path_factory.mktemp("jaeger") / "jaeger.log") as server:
        yield server

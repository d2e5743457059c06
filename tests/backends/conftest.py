"""The real backends the tests of this folder send to."""

import shutil
from collections.abc import Iterator

import pytest

from loopspan.local import start, stop
from loopspan.testing import Captured, capture
from tests.backends.build import BuildError, build
from tests.backends.jaeger_server import Jaeger, running_jaeger
from tests.backends.local_loop import assert_each_span_ended_once
from tests.backends.local_model import local_python
from tests.backends.ops_stack import Stack, running_backends
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


@pytest.fixture(scope="session")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Jaeger twice and Prometheus, and a Collector before them that is not running yet."""
    try:
        programs = build("jaeger"), build("collector")
    except BuildError as error:
        require_or_skip("backends", f"a Go program cannot be built: {error}")
    if shutil.which("prometheus") is None:
        require_or_skip("backends", "there is no Prometheus; apt-get install prometheus")
    with running_backends(*programs, tmp_path_factory.mktemp("ops")) as stack:
        yield stack


@pytest.fixture(scope="session")
def ops(backends: Stack) -> Iterator[Stack]:
    """The whole stack of the compose file."""
    with backends.collector():
        yield backends


@pytest.fixture(scope="module")
def local_server() -> Iterator[None]:
    """The server of the local model; the tests of one module have it to themselves."""
    try:
        python = local_python()
    except BuildError as error:
        require_or_skip("model", f"the local model cannot be installed: {error}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPSPAN_LOCAL_PYTHON", str(python))
        start()
        yield
        stop()


@pytest.fixture
def captured() -> Iterator[Captured]:
    """A capture, whose runs and spans have all ended, once, when the test is over."""
    with capture() as captured:
        yield captured
        assert_each_span_ended_once(captured)

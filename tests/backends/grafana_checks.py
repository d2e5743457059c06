"""Grafana's own grammar and types, from npm, kept beside the built programs."""

import fcntl
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.backends.build import BuildError, cache_folder

HERE = Path(__file__).with_name("grafana")
OPTIONS = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022")


def installed() -> Path:
    """Return a folder with the packages of `package-lock.json`, made only if it is not cached.

    Raises `BuildError` where npm is missing or fails.
    """
    files = sorted(path for path in HERE.iterdir() if path.is_file())
    key = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    folder = cache_folder() / f"grafana-{key}"
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / "grafana.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
                made = Path(temporary) / "made"
                shutil.copytree(HERE, made)
                run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], made)
                made.replace(folder)
    return folder


def run(argv: Sequence[str], folder: Path, given: str = "") -> str:
    """Return what a command prints; raises `BuildError` where it is missing or fails."""
    try:
        done = subprocess.run(argv, cwd=folder, input=given, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise BuildError(f"there is no `{argv[0]}` command on the path") from error
    if done.returncode:
        raise BuildError(f"`{' '.join(argv)}` failed: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def wrong_queries(packages: Path, queries: Sequence[str]) -> list[str]:
    """Return the TraceQL queries that do not parse."""
    found: list[str] = json.loads(run(["node", "traceql.mjs"], packages, json.dumps(queries)))
    return found


def type_errors(packages: Path, dashboard: Any) -> str:
    """Return what the TypeScript compiler says of a dashboard as a literal of its type."""
    # An enum of TypeScript takes no text: what Grafana writes into files is the enum's value.
    literal = json.dumps(dashboard, indent=1).replace('"absolute"', "ThresholdsMode.Absolute")
    text = (
        "import { ThresholdsMode, type Dashboard } from '@grafana/schema';\n"
        f"export const dashboard: Dashboard = {literal};\n"
    )
    with tempfile.TemporaryDirectory(dir=packages) as temporary:
        file = Path(temporary) / "dashboard.ts"
        file.write_text(text)
        tsc = ["node", "node_modules/typescript/bin/tsc", *OPTIONS, str(file)]
        done = subprocess.run(tsc, cwd=packages, capture_output=True, text=True)
    return done.stdout

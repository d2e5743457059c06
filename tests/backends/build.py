"""Build the Go programs the tests run against, each from the module in a folder beside this file.

Run as `python -m tests.backends.build jaeger` to build ahead of the tests.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent

# Without cgo the program needs no C compiler, and a workspace of the developer's stays out of it.
GO_ENV = {"CGO_ENABLED": "0", "GOWORK": "off"}
GO_BUILD = ("build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w")
TAIL_LINES = 30


class BuildError(RuntimeError):
    """A Go program could not be built."""


def build(name: str) -> Path:
    """Return the program built from the module folder `name`, building it only if it is not cached.

    A folder with Go sources is a main package; one without names its program in the `tool` line
    of its `go.mod` (https://go.dev/ref/mod#go-mod-file-tool).
    """
    folder = HERE / name
    if not (folder / "go.mod").is_file():
        raise BuildError(f"no Go module {name!r}: {folder / 'go.mod'} does not exist")
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    program = cache / f"{name}-{build_key(folder)}"
    with locked(cache / f"{name}.lock"):
        if not program.exists():
            compile_into(program, folder)
    return program


def cache_folder() -> Path:
    """`$LOOPSPAN_CACHE`, else `loopspan` in the user's cache folder."""
    if own := os.environ.get("LOOPSPAN_CACHE"):
        return Path(own)
    user = os.environ.get("XDG_CACHE_HOME")
    return (Path(user) if user else Path.home() / ".cache") / "loopspan"


def build_key(folder: Path) -> str:
    """A short hash of everything that decides what the program is: module, sources, compiler."""
    digest = hashlib.sha256()
    for part in (go(folder, "version"), repr((GO_ENV, GO_BUILD))):
        digest.update(part.encode() + b"\0")
    for path in sorted([folder / "go.mod", folder / "go.sum", *folder.rglob("*.go")]):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def compile_into(program: Path, folder: Path) -> None:
    """Build beside the final place and rename, so that an aborted build leaves no program there."""
    package = "." if any(folder.glob("*.go")) else "tool"
    with tempfile.TemporaryDirectory(dir=program.parent) as temporary:
        built = Path(temporary) / program.name
        go(folder, *GO_BUILD, "-o", str(built), package)
        built.replace(program)


def go(folder: Path, *arguments: str) -> str:
    """Run a go command in the folder and return what it printed."""
    try:
        done = subprocess.run(
            ["go", *arguments],
            cwd=folder,
            env=os.environ | GO_ENV,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    except FileNotFoundError as error:
        raise BuildError("there is no `go` command on the path") from error
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-TAIL_LINES:])
        raise BuildError(f"`go {' '.join(arguments)}` failed in {folder}, its last lines:\n{tail}")
    return done.stdout


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file, so that of several test processes one builds and the others wait."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> None:
    """Build the named programs and print where they are."""
    if not names:
        sys.exit("usage: python -m tests.backends.build NAME...")
    for name in names:
        try:
            print(build(name))
        except BuildError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])

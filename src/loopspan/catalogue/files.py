"""Reading the files of a catalogue: within its folder, of a sane size, in UTF-8."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from loopspan.errors import ConfigurationError

MAX_BYTES = 1024 * 1024
"""The most bytes that a file of a catalogue may have."""

Stamp = tuple[int, int]


class Files:
    """The files that were read, with what tells that they have changed since."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.stamps: dict[Path, Stamp | None] = {}

    def text(self, path: Path, what: str) -> str:
        """Return the text of a file; raises `ConfigurationError` where it cannot be read."""
        inside = self.inside(path, what)
        self.stamps[inside] = stamp(inside)
        try:
            if inside.stat().st_size > MAX_BYTES:
                raise ConfigurationError(f"{path}: {what} is larger than {MAX_BYTES:,} bytes")
            return inside.read_text("utf-8")
        except FileNotFoundError:
            raise ConfigurationError(f"{path}: {what} is not there") from None
        except UnicodeDecodeError as error:
            raise ConfigurationError(
                f"{path}: {what} is not UTF-8 (byte {error.start} cannot be read)"
            ) from None
        except OSError as error:
            raise ConfigurationError(f"{path}: {what} cannot be read ({error.strerror})") from error

    def folders(self, path: Path, what: str) -> list[Path]:
        """Return the folders inside a folder, sorted; raises `ConfigurationError` if it is none."""
        inside = self.inside(path, what)
        self.stamps[inside] = stamp(inside)
        if not inside.is_dir():
            raise ConfigurationError(f"{path}: {what} is not a folder")
        return sorted(each for each in inside.iterdir() if each.is_dir())

    def inside(self, path: Path, what: str) -> Path:
        """Return the real path; raises `ConfigurationError` where it leaves the folder."""
        real = path.resolve()
        if not real.is_relative_to(self.root):
            raise ConfigurationError(
                f"{path}: {what} lies outside of the catalogue's folder {self.root}; move it there"
            )
        return real

    @property
    def changed(self) -> bool:
        """Whether one of the files or folders is no longer as it was read."""
        return any(stamp(path) != before for path, before in self.stamps.items())


def stamp(path: Path) -> Stamp | None:
    """Return what changes when a file does, `None` where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def toml(text: str, path: Path) -> dict[str, Any]:
    """Return the values of a TOML text; raises `ConfigurationError` with line and column."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is no TOML: {error}") from None

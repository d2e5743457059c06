"""Reading the files of a catalogue: within its folder, of a sane size, in UTF-8."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

from loopspan.errors import ConfigurationError

MAX_BYTES = 1024 * 1024
"""The most bytes that a file of a catalogue may have."""

Stamp: TypeAlias = tuple[int, ...]


class Files:
    """What is read of a folder, with what tells that it has changed since."""

    def __init__(self, folder: Path) -> None:
        """`folder` may be a link; what it leads to is what nothing may lie outside of."""
        self._root = Path(os.path.realpath(folder))
        self._stamps: dict[Path, Stamp | None] = {}

    def text(self, path: Path, what: str, *, anywhere: bool = False) -> str:
        """Return the text of a file; raises `ConfigurationError` where it cannot be read.

        With `anywhere` it may be a link that leads out of the folder.
        """
        real = _real(path, what) if anywhere else self._inside(path, what)
        self.watch(path)
        data = _bytes(real, f"{path}: {what}")
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ConfigurationError(
                f"{path}: {what} is not UTF-8 (byte {error.start} cannot be read)"
            ) from None

    def folders(self, path: Path, what: str) -> list[Path]:
        """Return the folders inside a folder, sorted, without those that are hidden.

        Raises `ConfigurationError` if it is none.
        """
        real = self._inside(path, what)
        self.watch(path)
        try:
            with os.scandir(real) as entries:
                names = [e.name for e in entries if not e.name.startswith(".") and e.is_dir()]
        except (FileNotFoundError, NotADirectoryError):
            raise ConfigurationError(f"{path}: {what} is not a folder") from None
        except OSError as error:
            raise ConfigurationError(f"{path}: {what} cannot be read ({error.strerror})") from error
        return [path / name for name in sorted(names)]

    def watch(self, path: Path) -> None:
        """Keep what tells that a file has changed, or come to be."""
        # By the name it is read by: a link that leads elsewhere is a change too.
        absolute = path.absolute()
        self._stamps[absolute] = _stamp(absolute)

    @property
    def changed(self) -> bool:
        """Whether one of the files or folders is no longer as it was read."""
        return any(_stamp(path) != before for path, before in self._stamps.items())

    def _inside(self, path: Path, what: str) -> Path:
        real = _real(path, what)
        if not real.is_relative_to(self._root):
            raise ConfigurationError(
                f"{path}: {what} lies outside of the catalogue's folder {self._root}; move it there"
            )
        return real


def _real(path: Path, what: str) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a null character
        said = str(path).encode("unicode_escape").decode()
        raise ConfigurationError(f"{said}: {what} is no path that a file can have") from None


def _bytes(path: Path, where: str) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigurationError(f"{where} is not a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationError(f"{where} is not there") from None
    except OSError as error:
        raise ConfigurationError(f"{where} cannot be read ({error.strerror})") from error
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{where} is larger than {MAX_BYTES:,} bytes")
    return data


def _stamp(path: Path) -> Stamp | None:
    """Return what changes when a file or the list of a folder does, `None` where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ctime_ns, found.st_ino


def toml(text: str, path: Path) -> dict[str, Any]:
    """Return the values of a TOML text; raises `ConfigurationError` with line and column."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is no TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{path} is no TOML: it is nested too deeply") from None
    except ValueError:  # Python's limit for the digits of a number
        raise ConfigurationError(f"{path} is no TOML: a number in it has too many digits") from None

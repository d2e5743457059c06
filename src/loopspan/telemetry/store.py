"""Content beside the spans: in a store of the operator's own, under the ids of the span."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from loopspan.jsontext import dump, load

_KEY = re.compile(r"[0-9a-f]{32}-[0-9a-f]{16}")


class ContentStore(Protocol):
    """Where the content of spans is kept; keys are `<trace id>-<span id>` in hex."""

    def put(self, key: str, content: Mapping[str, Any]) -> None:
        """Keep the content of a span, which is plain JSON."""
        ...

    def get(self, key: str) -> Mapping[str, Any] | None:
        """Return the content of a span, `None` where it is not there."""
        ...


STORE = "LOOPSPAN_CONTENT_STORE"
"""The variable that names the folder of a `DirectoryStore`, for those who read."""


def store_of_environment() -> ContentStore | None:
    """Return the store that the environment names, if any."""
    folder = os.environ.get(STORE)
    return DirectoryStore(folder) if folder else None


class DirectoryStore:
    """A folder with a file for each span, which only its owner can read."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def put(self, key: str, content: Mapping[str, Any]) -> None:
        """Write a file, whole or not at all."""
        path = self._path(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Such a file is the owner's alone from its beginning.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(dump(dict(content)))
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def get(self, key: str) -> Mapping[str, Any] | None:
        """Read a file; one that is damaged counts as not there."""
        try:
            found = load(self._path(key).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no key of a span's content")
        trace_id, _, span_id = key.partition("-")
        return self._folder / trace_id / f"{span_id}.json"

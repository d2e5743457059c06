"""A catalogue that is read again when one of its files has changed."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from loopspan.catalogue.catalogue import Catalogue
from loopspan.catalogue.files import Files, stamp
from loopspan.errors import ConfigurationError

logger = logging.getLogger("loopspan.catalogue")


class CatalogueFile:
    """A catalogue on disk; `current()` is what it says now.

    A new version with a mistake is not used: the last good one stays, and `problem` says what is
    wrong, until the files change again.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises `ConfigurationError` where the file cannot be read the first time."""
        self.path = Path(path)
        self.problem: ConfigurationError | None = None
        self._lock = threading.Lock()
        self._catalogue = Catalogue.load(self.path)
        self._watched = self._catalogue.files

    def current(self) -> Catalogue:
        """Return the catalogue, read again where one of its files has changed."""
        with self._lock:
            if self._watched.changed:
                self._reload()
            return self._catalogue

    def _reload(self) -> None:
        try:
            self._catalogue = Catalogue.load(self.path)
        except ConfigurationError as problem:
            self.problem = problem
            logger.warning("the catalogue has changed and is not used: %s", problem)
            self._watched = self._as_it_is_now()
        else:
            self.problem = None
            self._watched = self._catalogue.files

    def _as_it_is_now(self) -> Files:
        """Return the files of the last good version with their present state."""
        files = Files(self._catalogue.files.root)
        files.stamps = {path: stamp(path) for path in self._watched.stamps}
        return files

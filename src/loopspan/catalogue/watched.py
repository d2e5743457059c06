"""A catalogue that is read again when one of its files has changed."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from loopspan.catalogue.catalogue import Catalogue
from loopspan.catalogue.files import Files
from loopspan.errors import ConfigurationError

logger = logging.getLogger("loopspan.catalogue")


class CatalogueFile:
    """A catalogue on disk; `current()` is what it says now.

    A new version with a mistake is not used: the last good one stays, and `problem` says what is
    wrong, until the files change again.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises `ConfigurationError` where the file cannot be read the first time."""
        self.path = Path(path).absolute()
        self.problem: ConfigurationError | None = None
        self._lock = threading.Lock()
        self._files = Files(self.path.parent)
        self._catalogue = Catalogue.read(self.path, self._files)

    def current(self) -> Catalogue:
        """Return the catalogue, read again where one of its files has changed."""
        with self._lock:
            if self._files.changed:
                self._reload()
            return self._catalogue

    def _reload(self) -> None:
        # What a broken version was read from is watched too: the mistake may be mended there.
        self._files = Files(self.path.parent)
        try:
            self._catalogue = Catalogue.read(self.path, self._files)
        except ConfigurationError as problem:
            self.problem = problem
            logger.warning("the catalogue has changed and is not used: %s", problem)
        else:
            self.problem = None

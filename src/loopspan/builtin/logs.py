"""The newest log records of the program, kept in memory while somebody asked for them."""

from __future__ import annotations

import logging
from collections import deque
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from loopspan.builtin.masking import masked
from loopspan.tools import Tool, tool

Level: TypeAlias = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
Entry: TypeAlias = dict[str, str]

_LONGEST_MESSAGE = 500
_MOST_READ = 4_000
"""So much of a message is searched for secrets, in the thread that logs it."""


class RecentLogs(logging.Handler):
    """A handler that keeps the newest records; attached to the root logger by `attach`.

    It changes no level: what it sees is what the program's loggers let through.
    """

    def __init__(self, capacity: int = 200) -> None:
        """Keep this many records; older ones are forgotten."""
        super().__init__()
        self._entries: deque[tuple[int, Entry]] = deque(maxlen=capacity)

    def attach(self) -> None:
        """Start to listen; doing it twice changes nothing."""
        logging.getLogger().addHandler(self)

    def detach(self) -> None:
        """Stop to listen; what was kept stays."""
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record; never raises."""
        try:
            self._entries.append((record.levelno, _entry(record)))
        except Exception:  # noqa: BLE001  # logging's own way for a record that cannot be read
            self.handleError(record)
        # A program without handlers has Python's last resort, which any handler would silence.
        last = logging.lastResort
        if last and record.levelno >= last.level and not self._others_hear(record):
            last.handle(record)

    def entries(self, level: Level = "DEBUG", limit: int = 20) -> list[Entry]:
        """Return the newest entries from this level on, the newest last."""
        lowest = logging.getLevelNamesMapping()[level]
        self.acquire()
        try:
            kept = [entry for levelno, entry in self._entries if levelno >= lowest]
        finally:
            self.release()
        return kept[-limit:] if limit > 0 else []

    def tool(self) -> Tool:
        """Return a tool that shows the newest records to an admin's run."""

        @tool(group="builtin", requires_admin=True)
        def recent_log_records(
            level: Level = "INFO", limit: Annotated[int, Field(ge=1, le=50)] = 20
        ) -> dict[str, list[Entry]]:
            """Show the newest log records of this program, the newest last.

            Args:
                level: The lowest level to show.
                limit: The most records to show.
            """
            return {"records": self.entries(level, limit)}

        return recent_log_records

    def _others_hear(self, record: logging.LogRecord) -> bool:
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger:
            if any(handler is not self for handler in logger.handlers):
                return True
            logger = logger.parent if logger.propagate else None
        return False


def _entry(record: logging.LogRecord) -> Entry:
    """Return what is shown of a record; it holds on to no object of the program."""
    message = masked(record.getMessage()[:_MOST_READ])
    entry = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        "message": message
        if len(message) <= _LONGEST_MESSAGE
        else f"{message[:_LONGEST_MESSAGE]}…",
    }
    if record.exc_info and record.exc_info[0]:
        entry["exception"] = record.exc_info[0].__name__
    return entry

"""What goes to standard error: one line a time, without keys and control characters."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Iterator

from loopspan.builtin.masking import is_secret_name
from loopspan.runs.text.visible import visible
from loopspan.secrets import Secret

_SHORTEST_SECRET = 8


def say(kind: str, text: str) -> None:
    """Write a line, `kind: text`; a closed standard error is nobody's concern."""
    with contextlib.suppress(OSError, ValueError):
        line = visible(masked(f"{kind}: {text}")).replace("\n", "\n  ")
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def masked(text: str) -> str:
    """Return the text without the values of the environment's secrets."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and is_secret_name(name, value):
            text = Secret(value).masked_in(text)
    return text


class LogLines(logging.Handler):
    """Log records as lines of standard error, an exception as its type alone."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, unless it tells what the command shows itself."""
        if record.name in _SHOWN:
            return
        kind = record.levelname.lower()
        error = record.exc_info[0] if record.exc_info else None
        what = f" ({error.__name__})" if error else ""
        say(kind, f"{record.name}: {record.getMessage()}{what}")


_SHOWN = ("loopspan.cost", "loopspan.export", "loopspan.loop", "loopspan.tools")
"""The loggers whose records repeat what a command tells itself."""


@contextlib.contextmanager
def log_lines() -> Iterator[None]:
    """Take what Python would log with tracebacks; a program's own handlers stay as they are."""
    before = logging.lastResort
    logging.lastResort = LogLines(logging.WARNING)
    try:
        yield
    finally:
        logging.lastResort = before


@contextlib.contextmanager
def tools_print_elsewhere() -> Iterator[None]:
    """Let what tools and their modules print go to standard error: it is not the output."""
    with contextlib.redirect_stdout(_StandardError()):
        yield


class _StandardError(io.TextIOBase):
    """Whatever standard error is when something is printed: a live view takes it over meanwhile."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()

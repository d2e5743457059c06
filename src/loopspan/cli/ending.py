"""How a command ends: an exit code and a sentence, never a traceback."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable

from loopspan.cli.stderr import log_lines, say
from loopspan.errors import ConfigurationError, LoopspanError, UnsupportedContent

FAILED, USAGE, INTERRUPTED, UNREAD = 1, 2, 130, 141

logger = logging.getLogger("loopspan.cli")


def ended(command: Callable[[], int]) -> int:
    """Do what the command does and return its exit code; whatever it raises becomes one."""
    try:
        with log_lines():
            return command()
    except (ConfigurationError, UnsupportedContent) as error:
        say("error", str(error))
        return USAGE
    except LoopspanError as error:
        say("error", " ".join((str(error), *getattr(error, "__notes__", ()))))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return UNREAD
    except OSError as error:
        _forget_output()
        say("error", f"the output cannot be written: {error}; check where it goes")
        return FAILED
    except Exception as error:
        logger.debug("the command failed", exc_info=True)
        what = f"{type(error).__name__}: {error}"
        say("error", f"loopspan itself failed ({what}); please report it with the command you gave")
        return FAILED


def _forget_output() -> None:
    """Let what Python still writes at its end go nowhere: it cannot be written."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

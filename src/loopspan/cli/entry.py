"""Where the command line starts, and how it ends whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, else the program's own; returns the exit code.

    0 is an answer or a dry run, 1 a run that failed, 2 wrong usage or configuration, 3 a run that
    was cut short, 130 an interruption, 141 an output that nobody reads any more.
    """
    for name in ("rich", "typer"):
        try:
            import_module(name)
        except ModuleNotFoundError:
            sys.stderr.write(
                f"error: the command line needs {name}, which is not installed; "
                "install it with: pip install 'loopspan[cli]'\n"
            )
            return 2
    from loopspan.cli.app import app

    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        app(arguments, prog_name="loopspan")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0

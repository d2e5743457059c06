"""The command line: runs a prompt and shows each step, checks the setup."""

from loopspan.cli.entry import main

__all__ = ["main"]

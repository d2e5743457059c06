"""`local:`, a small real model on this machine, served by a child of the program."""

from loopspan.local.adapter import Local
from loopspan.local.server import start, stop

__all__ = ["Local", "start", "stop"]

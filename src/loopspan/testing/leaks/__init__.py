"""What leaves a program that should not: marked runs, and a search of all that leaves."""

from loopspan.testing.leaks.exits import Exits
from loopspan.testing.leaks.report import Finding, LeakReport
from loopspan.testing.leaks.sweep import leak_sweep

__all__ = ["Exits", "Finding", "leak_sweep", "LeakReport"]

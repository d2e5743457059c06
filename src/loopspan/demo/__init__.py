"""`demo:`, a small rule-driven model behind a real endpoint inside the process."""

from loopspan.demo.adapter import Demo
from loopspan.demo.endpoint import stop

__all__ = ["Demo", "stop"]

"""How the loop does I/O without doing any: effects, and the drivers that perform them."""

from loopspan.flow.drivers import AsyncRun, Over, SyncRun
from loopspan.flow.events import StreamEvent

__all__ = ["AsyncRun", "Over", "StreamEvent", "SyncRun"]

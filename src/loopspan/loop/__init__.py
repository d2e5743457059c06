"""The tool loop: ask the model, run the tools it asks for, ask again, leave a trace."""

from loopspan.loop.exchange import RetryPolicy
from loopspan.loop.result import Outcome, RunResult
from loopspan.loop.streams import AsyncRunStream, RunStream
from loopspan.loop.tool_loop import ToolLoop

__all__ = ["AsyncRunStream", "Outcome", "RetryPolicy", "RunResult", "RunStream", "ToolLoop"]

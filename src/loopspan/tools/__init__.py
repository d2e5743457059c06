"""Tools that a model may call: the decorator, the registry, and the rules of use."""

from loopspan.tools.context import Actor, ToolContext
from loopspan.tools.permission import AllowLists, Decision, decide
from loopspan.tools.registry import ToolRegistry, ToolSet
from loopspan.tools.results import RESULT_LIMIT, cap, result_text, returned_error
from loopspan.tools.tool import Tool, tool

__all__ = [
    "RESULT_LIMIT",
    "Actor",
    "AllowLists",
    "Decision",
    "Tool",
    "ToolContext",
    "ToolRegistry",
    "ToolSet",
    "cap",
    "decide",
    "result_text",
    "returned_error",
    "tool",
]

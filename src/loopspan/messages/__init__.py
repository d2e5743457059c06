"""Values of a dialogue: messages and their parts, requests, replies, usage.

Field names are those of the GenAI semantic conventions, so that an attribute is a dump without
mapping. All values are frozen; what is nested in them (`arguments`, `response`, `extra`) must not
be changed either.
"""

from loopspan.messages.context import ContextUse, Window
from loopspan.messages.message import Message, assistant, message_from_json, system, user
from loopspan.messages.parts import (
    Blob,
    Extra,
    File,
    Generic,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallResponse,
    Uri,
    part_from_json,
)
from loopspan.messages.reply import Choice, Price, Reply, Usage
from loopspan.messages.request import Endpoint, Parameters, Request, ToolChoice, ToolDefinition

__all__ = [
    "assistant",
    "Blob",
    "Choice",
    "ContextUse",
    "Endpoint",
    "Extra",
    "File",
    "Generic",
    "Message",
    "message_from_json",
    "Parameters",
    "Part",
    "part_from_json",
    "Price",
    "Reasoning",
    "Reply",
    "Request",
    "system",
    "Text",
    "ToolCall",
    "ToolCallResponse",
    "ToolChoice",
    "ToolDefinition",
    "Uri",
    "Usage",
    "Window",
    "user",
]

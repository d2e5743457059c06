"""Test doubles for programs that use loopspan, and a sweep for what leaks out of them.

from loopspan.testing import ScriptedModel, capture, span_tree

with capture() as captured:
    model = ScriptedModel([calls("add", a=1, b=2), "3"])
    result = ToolLoop(model.model, [add], tracer_provider=captured.provider,
                      client=model.client).run("1 + 2?")
assert span_tree(captured.spans) == ...
"""

from loopspan.testing.captured import Captured, capture
from loopspan.testing.leaks import Exits, Finding, LeakReport, leak_sweep
from loopspan.testing.scripted import JSON, Answer, ScriptedModel, calls, message
from loopspan.testing.trees import span_tree

__all__ = [
    "Answer",
    "calls",
    "capture",
    "Captured",
    "Exits",
    "Finding",
    "JSON",
    "leak_sweep",
    "LeakReport",
    "message",
    "ScriptedModel",
    "span_tree",
]

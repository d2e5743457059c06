"""The dialogue that each instrumentation writes: a call, its result, the answer."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from loopspan.telemetry.record import SpanEvent, SpanRecord

JSON = dict[str, Any]
TRACE = "0af7651916cd43dd8448eb211c80319c"
ASKED = "How warm is it in Oslo?"
ARGUMENTS = {"city": "Oslo"}
RESULT = "21 degrees"
ANSWER = "It is 21 degrees."
SYSTEM = "Be brief."


def record(
    number: int,
    name: str,
    attributes: Mapping[str, Any],
    *,
    parent: int | None = 1,
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
    failed: bool = False,
) -> SpanRecord:
    """A span of 100 ms that starts at its number of seconds."""
    start = number * 1_000_000_000
    return SpanRecord(
        name=name,
        trace_id=TRACE,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        started_at=start,
        ended_at=start + 100_000_000,
        attributes=attributes,
        events=tuple(SpanEvent(n, start, a) for n, a in events),
        status="error" if failed else "unset",
    )


OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "temperature", "arguments": json.dumps(ARGUMENTS)},
}
OPENAI_SENT: list[JSON] = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": RESULT},
]
CURRENT_CALL = {"type": "tool_call", "id": "c1", "name": "temperature", "arguments": ARGUMENTS}
CURRENT_SENT: list[JSON] = [
    {"role": "system", "parts": [{"type": "text", "content": SYSTEM}]},
    {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
    {"role": "assistant", "parts": [CURRENT_CALL]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": RESULT}]},
]

"""Messages in events of a span, one in each: the way of the conventions before 1.37."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopspan.runs.foreign.messages import JSON, messages, parsed
from loopspan.telemetry.record import SpanEvent, SpanRecord

_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def told_events(span: SpanRecord) -> Sequence[SpanEvent]:
    """Return the events of a span, with those that older pydantic-ai lists in an attribute."""
    listed = parsed(span.attributes.get("events"))
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return span.events
    return (
        *span.events,
        *(
            SpanEvent(str(each.get("event.name")), span.started_at, each)
            for each in listed
            if isinstance(each, Mapping)
        ),
    )


def sent_in(events: Sequence[SpanEvent]) -> list[JSON]:
    """Return the messages of a request that these events tell."""
    found: list[JSON] = []
    for event in events:
        if event.name in _ROLES:
            found += messages(_body(event.attributes, _ROLES[event.name]), _ROLES[event.name])
        elif event.name == "gen_ai.content.prompt":
            found += messages(event.attributes.get("gen_ai.prompt"), "user")
    return found


def answered_in(events: Sequence[SpanEvent]) -> list[JSON]:
    """Return the answers that these events tell; what has the index of another goes on with it."""
    found: list[JSON] = []
    places: dict[str, JSON] = {}
    for event in events:
        if event.name != "gen_ai.choice":
            continue
        told = _choice(event.attributes)
        for each in messages(told, "assistant"):
            index = str(told.get("index", len(found)))
            if index in places:
                places[index]["parts"] += each["parts"]
            else:
                places[index] = each
                found.append(each)
    return found


def _body(attributes: Mapping[str, Any], role: str) -> JSON:
    told = parsed(attributes.get("gen_ai.event.content"))
    if told is None:
        return {"role": role, **attributes}
    return {"role": role, **told} if isinstance(told, Mapping) else {"role": role, "content": told}


def _choice(attributes: Mapping[str, Any]) -> JSON:
    told = _body(attributes, "assistant")
    inner = parsed(told.get("message"))
    if isinstance(inner, Mapping):
        return {**told, **inner, "role": str(inner.get("role") or "assistant")}
    return {**told, "content": inner} if isinstance(inner, str) else told

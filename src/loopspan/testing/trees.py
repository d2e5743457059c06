"""Spans as nested plain data, to compare a trace as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id

from loopspan.jsontext import load
from loopspan.telemetry import semconv
from loopspan.testing.scripted import JSON


def span_tree(
    spans: Iterable[ReadableSpan], *, without: Iterable[str] = ("loopspan.run.id",)
) -> list[JSON]:
    """Return spans as a nested list of plain dicts, ids and times taken out, to compare as a whole.

    Each is `{"name", "kind", "status", "attributes", "events", "children"}`; children stand in the
    order of their start, JSON attributes are decoded, a reference to a span is its name, and the
    attributes named in `without` are left out.
    """
    ordered = sorted(spans, key=lambda span: span.start_time or 0)
    names = {format_span_id(_id(span)): span.name for span in ordered}
    left_out = frozenset(without)
    nodes = {_id(span): _node(span, left_out, names) for span in ordered}
    roots: list[JSON] = []
    for span in ordered:
        parent = None if span.parent is None else nodes.get(span.parent.span_id)
        (roots if parent is None else parent["children"]).append(nodes[_id(span)])
    return roots


def _id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    return 0 if context is None else context.span_id


def _node(span: ReadableSpan, left_out: frozenset[str], names: Mapping[str, str]) -> JSON:
    return {
        "name": span.name,
        "kind": span.kind.name,
        "status": span.status.status_code.name,
        "attributes": {
            key: _named(_value(value), names)
            for key, value in sorted((span.attributes or {}).items())
            if key not in left_out
        },
        "events": [event.name for event in span.events],
        "children": [],
    }


def _named(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {
                k: names.get(v, v) if k == semconv.RESULT_OF else _named(v, names)
                for k, v in value.items()
            }
        case list():
            return [_named(item, names) for item in value]
        case _:
            return value


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return load(value)
        except ValueError:
            return value
    return value

"""What reaches the SDK: nothing without content, and only values that every release takes."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from loopspan import Parameters, ToolOptions, tool
from loopspan.jsontext import load
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content
from loopspan.testing import ScriptedModel, calls, capture
from tests.loop.ways import Way, each_way, loop_of

NESTED = Parameters(
    temperature=1,
    stop_sequences=("a", 5, None),  # type: ignore[arg-type]  # what callers do pass
    extra={
        "reasoning": {"effort": "low"},
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
        "stop": ["a", 5, None, {"b": 1}],
        "nothing": None,
    },
)
UNSET = Parameters(
    **dict.fromkeys(("temperature", "top_p", "top_k", "max_tokens", "seed"))  # type: ignore[arg-type]  # the default of each
)


@tool
def look(where: str = "here") -> str:
    """Look."""
    return f"nothing {where}"


def spans(
    way: Way, content: Content, parameters: Parameters, caplog: pytest.LogCaptureFixture
) -> list[ReadableSpan]:
    """The spans of a run with tools, of whose attributes the SDK had nothing to say."""
    with capture() as captured, caplog.at_level(logging.WARNING):
        model = ScriptedModel([calls("look", id="call_1"), "Done."])
        loop = loop_of(model, [look], captured, content=content)
        way(loop, options=ToolOptions(parameters=parameters))
    assert [r for r in caplog.records if r.name.startswith("opentelemetry")] == []
    return captured.spans


def is_plain(value: Any) -> bool:
    """Whether releases of the SDK before and after 1.45 record a value in the same way."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        kinds = {type(item) for item in value}
        return len(kinds) <= 1 and kinds <= {str, bool, int, float}
    return isinstance(value, str | bool | int | float)


def told(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


@each_way
def test_at_01_without_content_its_attributes_are_not_there_at_all(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    for span in spans(way, "off", NESTED, caplog):
        assert names.CONTENT_ATTRIBUTES.isdisjoint(told(span))
        empty = {k for k, v in told(span).items() if v in (None, "", "{}", "[]", "null", ())}
        assert empty == set()


@each_way
@pytest.mark.parametrize("content", ["off", "metadata", "full"])
def test_at_02_options_that_are_not_set_are_left_out(
    way: Way, content: Content, caplog: pytest.LogCaptureFixture
) -> None:
    for span in spans(way, content, UNSET, caplog):
        assert None not in told(span).values()
        assert "None" not in told(span).values()
        requested = {k for k in told(span) if k.startswith(names.REQUEST_PREFIX)}
        assert requested <= {names.REQUEST_MODEL, names.REQUEST_STREAM}
        assert names.REQUEST_PARAMETERS not in told(span)


@each_way
@pytest.mark.parametrize("content", ["off", "metadata", "full"])
def test_at_03_only_plain_values_reach_the_sdk(
    way: Way, content: Content, caplog: pytest.LogCaptureFixture
) -> None:
    recorded = spans(way, content, NESTED, caplog)
    for span in recorded:
        assert {k: v for k, v in told(span).items() if not is_plain(v)} == {}
        for event in span.events:
            assert all(map(is_plain, (event.attributes or {}).values()))
    first = next(span for span in recorded if span.name.startswith("chat"))
    assert told(first)[names.REQUEST_TEMPERATURE] == 1.0
    assert told(first)[names.REQUEST_STOP_SEQUENCES] == ("a", "5", "None")
    if content == "full":
        assert load(told(first)[names.REQUEST_PARAMETERS]) == NESTED.extra
    else:
        assert names.REQUEST_PARAMETERS not in told(first)

"""What a backend has cut is told as such, with the raw text where there is a place for it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from loopspan.runs import ChatStep, RequestStep, Run, ToolStep, findings, read_run
from loopspan.runs.text.report import as_text
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord
from loopspan.testing import capture
from tests.runs.sources.recorded import recorded

LIMIT = 40


def cut_run(*cut: str) -> Run:
    """A run whose spans have these attributes cut at 40 bytes, as a stock Tempo does at 2,048."""
    with capture() as captured:
        run = recorded(captured.provider)

    def shortened(span: SpanRecord) -> SpanRecord:
        told: dict[str, Any] = dict(span.attributes)
        for name in cut:
            if name in told:
                told[name] = told[name][:LIMIT]
        return replace(span, attributes=told)

    return read_run([shortened(span) for span in captured.run_trace.spans(run.run_id)])


def reasons(step: RequestStep | ChatStep | ToolStep) -> dict[str, str]:
    return {each.field: each.why for each in step.missing if not each.field.startswith("usage.")}


def test_messages_that_were_cut_are_unparsable_not_missing() -> None:
    """PG-06: never silently empty."""
    run = cut_run(names.INPUT_MESSAGES, names.TOOL_DEFINITIONS)
    request = run.steps[0]
    assert isinstance(request, RequestStep)
    assert reasons(request) == {"messages": "unparsable", "tools": "unparsable"}
    said = (
        "messages   unparsable  its 40 bytes are no JSON; a limit on attributes may have cut them"
    )
    assert said in as_text(run)


def test_an_answer_that_was_cut_is_unparsable() -> None:
    chat = cut_run(names.OUTPUT_MESSAGES).steps[1]
    assert isinstance(chat, ChatStep)
    told = reasons(chat)
    assert [told[f] for f in ("content", "thinking", "tool_calls")] == ["unparsable"] * 3


@pytest.mark.parametrize("name", [names.TOOL_CALL_ARGUMENTS, names.TOOL_CALL_RESULT])
def test_arguments_and_results_that_were_cut_are_their_raw_text(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.runs.test_damaged.LIMIT", 8)
    run = cut_run(name)
    tool = run.steps[2]
    assert isinstance(tool, ToolStep)
    if name == names.TOOL_CALL_ARGUMENTS:
        whole = json.dumps({"word": "span"}, separators=(",", ":"))
        assert (tool.arguments, reasons(tool)) == (whole[:8], {"arguments": "unparsable"})
    else:
        assert (tool.result, reasons(tool)) == ('{"result', {})
    assert findings(run) == ()

"""A tool that is never recorded: its arguments and results are in no sink, everything else is."""

import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from loopspan import (
    Configuration,
    ConfigurationError,
    InvalidRequestError,
    PolicyExporter,
    RunResult,
    Tool,
    ToolOptions,
    tool,
    user,
)
from loopspan.messages import Blob, Generic, Message, Text, ToolCall, ToolCallResponse
from loopspan.runs import ChatStep, RequestStep, Run, ToolStep
from loopspan.telemetry import semconv as names
from loopspan.testing import Captured, ScriptedModel, calls, capture, message
from tests.loop.ways import Way, each_way, loop_of
from tests.telemetry.sinks import Sink, read_back

ASKED, PAID = "Mallory", "98765"
NOT_RECORDED = {names.NOT_RECORDED: True}


@tool(record=False)
def read_payroll(who: str) -> str:
    """Say what somebody earns."""
    return f"{who} earns {PAID}"


@tool
def look_up(name: str) -> str:
    """Look somebody up."""
    return f"{name} is in room 7"


@tool
def now() -> str:
    """Tell the time."""
    return "noon"


TOOLS: list[Tool] = [read_payroll, look_up, now]


def three_rounds() -> ScriptedModel:
    return ScriptedModel(
        [
            message(
                tool_calls=[
                    ("read_payroll", {"who": ASKED}, "call_1"),
                    ("look_up", {"name": "Ann"}, "call_2"),
                ]
            ),
            message(tool_calls=[("read_payroll", {"who": ASKED}, "call_3"), ("now", {}, "call_4")]),
            "All done.",
        ]
    )


def everything(captured: Captured, result: RunResult) -> str:
    """All that any sink has of a run: spans, bytes that are exported, runs."""
    exported = encode_spans(captured.spans).SerializeToString().decode("utf-8", "replace")
    spans = "".join(span.to_json() for span in captured.spans)
    recorded = captured.run_trace.run(result.run_id)
    runs = [result.run, read_back(captured.spans), *([recorded] if recorded else [])]
    return exported + spans + "".join(run.model_dump_json() for run in runs)


def assert_unrecorded(told: str) -> None:
    assert ASKED not in told
    assert PAID not in told


@each_way
@pytest.mark.parametrize("messages", ["new", "full"])
@pytest.mark.parametrize("content", ["full", "metadata"])
def test_pr06_what_one_tool_gets_and_gives_is_in_no_sink(
    way: Way, messages: Any, content: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = three_rounds()
    with capture() as captured, caplog.at_level(logging.DEBUG, "loopspan"):
        loop = loop_of(model, TOOLS, captured, content=content, messages=messages)
        result = way(loop, user("Ask."))

    assert json.dumps(model.requests[2]).count(PAID) == 2  # the model did get it
    assert_unrecorded(everything(captured, result) + caplog.text)
    assert read_back(captured.spans) == result.run
    hidden = [s for s in tools_of(result.run) if s.name == "read_payroll"]
    assert [(s.state, s.arguments, s.result, s.is_error) for s in hidden] == [
        ("ok", None, None, False)
    ] * 2
    assert all(s.duration_ms is not None for s in hidden)
    assert [(m.field, m.why) for m in hidden[0].missing] == [
        ("arguments", "not_captured"),
        ("result", "not_captured"),
    ]


def tools_of(run: Run) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


def test_pr06_all_else_is_told_and_a_placeholder_stands_where_it_was() -> None:
    with capture() as captured:
        result = loop_of(three_rounds(), TOOLS, captured, content="full").run("Ask.")

    shown = {s.name: (s.arguments, s.result) for s in tools_of(result.run)}
    assert shown["look_up"] == ({"name": "Ann"}, "Ann is in room 7")
    assert shown["now"] == ({}, "noon")
    chat = next(step for step in result.run.steps if isinstance(step, ChatStep))
    assert [(c.name, c.id, c.arguments) for c in chat.tool_calls or ()] == [
        ("read_payroll", "call_1", None),
        ("look_up", "call_2", {"name": "Ann"}),
    ]
    assert ("tool_calls.0.arguments", "not_captured") in [(m.field, m.why) for m in chat.missing]
    last = [step for step in result.run.steps if isinstance(step, RequestStep)][-1]
    parts = [part for m in last.messages or () for part in m["parts"] if "id" in part]
    assert [(p["id"], p.get("arguments", p.get("response"))) for p in parts] == [
        ("call_1", NOT_RECORDED),
        ("call_2", {"name": "Ann"}),
        ("call_1", NOT_RECORDED),
        ("call_2", "Ann is in room 7"),
        ("call_3", NOT_RECORDED),
        ("call_4", {}),
        ("call_3", NOT_RECORDED),
        ("call_4", "noon"),
    ]
    [definitions] = [
        json.loads(str((s.attributes or {})[names.TOOL_DEFINITIONS]))
        for s in captured.spans
        if names.TOOL_DEFINITIONS in (s.attributes or {})
    ]
    assert [d["name"] for d in definitions] == ["read_payroll", "look_up", "now"]


def test_a_policy_leaves_the_placeholder_where_it_leaves_metadata() -> None:
    with capture() as captured:
        loop_of(three_rounds(), TOOLS, captured, content="full").run("Ask.")
    sink = Sink()
    PolicyExporter(sink, content="metadata").export(captured.spans)
    told = [str((s.attributes or {}).get(names.OUTPUT_MESSAGES)) for s in sink.got]
    [first] = [text for text in told if "call_1" in text]
    assert json.loads(first)[0]["parts"] == [
        {"type": "tool_call", "id": "call_1", "name": "read_payroll", **NOT_RECORDED},
        {"type": "tool_call", "id": "call_2", "name": "look_up", "bytes": 14},
    ]
    assert all(chat.content is None for chat in chats_of(read_back(sink.got)))


def chats_of(run: Run) -> list[ChatStep]:
    return [step for step in run.steps if isinstance(step, ChatStep)]


def raising(who: str) -> str:
    """Say what somebody earns."""
    raise ValueError(f"{who} earns {PAID}")


def failing(who: str) -> dict[str, Any]:
    """Say what somebody earns."""
    return {"error": f"{who} earns {PAID}"}


def choosy(who: int) -> str:
    """Say what somebody earns."""
    return f"{who}"


@each_way
@pytest.mark.parametrize("function", [raising, failing, choosy])
def test_pr06_of_a_failure_only_its_type_is_told(
    way: Way, function: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    secretive = tool(name="read_payroll", record=False)(function)
    model = ScriptedModel([calls("read_payroll", who=ASKED), "Done."])
    with capture() as captured, caplog.at_level(logging.DEBUG, "loopspan"):
        result = way(loop_of(model, [secretive], captured, content="full"))
    assert_unrecorded(everything(captured, result) + caplog.text)
    [step] = tools_of(result.run)
    assert step.is_error
    kinds = {raising: "ValueError", failing: None, choosy: "invalid_arguments"}
    assert (step.error.type if step.error else None) == kinds[function]


def by_options(**settings: Any) -> tuple[dict[str, Any], ToolOptions]:
    return {}, ToolOptions(unrecorded_tools=("read_payroll",), **settings)


def by_configuration(**settings: Any) -> tuple[dict[str, Any], ToolOptions]:
    configuration = Configuration(unrecorded_tools=("read_payroll",))
    return {"configuration": configuration}, ToolOptions(**settings)


@tool(name="read_payroll")
def plain(who: str) -> str:
    """Say what somebody earns."""
    return f"{who} earns {PAID}"


@pytest.mark.parametrize("named", [by_options, by_configuration])
def test_a_tool_is_named_by_the_run_or_the_configuration(named: Any) -> None:
    settings, options = named()
    model = ScriptedModel([calls("read_payroll", who=ASKED), "Done."])
    with capture() as captured:
        loop = loop_of(model, [plain], captured, content="full", **settings)
        result = loop.run("Ask.", options=options)
    assert_unrecorded(everything(captured, result))
    assert PAID in str(result.messages)


@pytest.mark.parametrize("named", [by_options, by_configuration])
def test_raw_bodies_would_hold_it_so_both_are_refused(named: Any) -> None:
    settings, options = named(capture_raw=True)
    model = ScriptedModel(["Done."])
    with pytest.raises(ConfigurationError, match=r"\['read_payroll'\] must not be recorded"):
        loop_of(model, [plain], **settings).run("Ask.", options=options)
    assert model.requests == []


HISTORY = (
    user("Ask."),
    Message("assistant", (ToolCall("read_payroll", {"who": ASKED}, "old_1"),)),
    Message("tool", (ToolCallResponse(f"{ASKED} earns {PAID}", "old_1"),)),
    Message("assistant", (ToolCall("look_up", {"name": "Ann"}, "old_2"),)),
    Message("tool", (ToolCallResponse("room 7", "old_2"),)),
    user("And now?"),
)


@pytest.mark.parametrize("dry_run", [False, True])
def test_pr06_a_dialogue_that_goes_on_is_searched_for_earlier_calls(dry_run: bool) -> None:
    with capture() as captured:
        loop = loop_of(ScriptedModel(["Well."]), TOOLS, captured, content="full")
        result = loop.run(HISTORY, dry_run=dry_run)
    told = everything(captured, result)
    assert_unrecorded(told)
    assert "room 7" in told


def test_a_call_that_may_be_meant_for_it_is_not_told_either() -> None:
    asked = [
        ("default_api.read_payroll", {"who": ASKED}, "call_1"),
        ("", {"who": ASKED}, "call_2"),
    ]
    odd = Message("assistant", (Generic("odd_call", {"function": "read_payroll", "input": ASKED}),))
    remote = Message(
        "assistant",
        (
            Generic("mcp_call", {"id": "m1", "name": "read_payroll", "input": ASKED}),
            Generic("mcp_result", {"tool_use_id": "m1", "content": PAID}),
        ),
    )
    lost = Message("tool", (ToolCallResponse(PAID, "nobody-knows"),))
    image = Blob("image", "UEFJRA==" + PAID, "image/png")
    beside = Message("tool", (ToolCallResponse(PAID, "c9", "read_payroll"), image))
    bare = Message("tool", (Text(PAID),))
    with capture() as captured:
        model = ScriptedModel([message(tool_calls=asked), "Done."])
        loop = loop_of(model, TOOLS, captured, content="full")
        result = loop.run((user("Ask."), odd, remote, lost, beside, bare, user("Go on.")))
    assert PAID in json.dumps(model.requests[0])
    assert_unrecorded(everything(captured, result))


@each_way
def test_the_text_of_a_providers_error_may_repeat_it(way: Way) -> None:
    def refusing(body: Any) -> httpx.Response:
        return httpx.Response(400, json={"error": {"message": f"bad call: {body['messages']}"}})

    model = ScriptedModel([calls("read_payroll", who=ASKED), refusing])
    with capture() as captured, pytest.raises(InvalidRequestError, match=PAID) as raised:
        way(loop_of(model, TOOLS, captured, content="full"))
    told = everything(captured, raised.value.result)
    assert_unrecorded(told)
    assert "answered 400" in told


def test_a_name_that_is_a_text_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="unrecorded_tools is the text 'read_payroll'"):
        ToolOptions(unrecorded_tools="read_payroll")  # type: ignore[arg-type]  # a likely slip


@pytest.mark.parametrize(
    ("run", "configuration", "loop", "variable", "expected"),
    [
        ("full", "off", "off", "off", "full"),
        ("off", "full", "full", "full", "off"),
        (None, "metadata", "full", "full", "metadata"),
        (None, None, "metadata", "full", "metadata"),
        (None, None, None, "full", "full"),
        (None, None, None, None, "off"),
    ],
)
def test_content_of_run_over_configuration_over_loop_over_environment(
    run: Any,
    configuration: Any,
    loop: Any,
    variable: str | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LOOPSPAN_CONTENT", raising=False)
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)
    if variable is not None:
        monkeypatch.setenv("LOOPSPAN_CONTENT", variable)
    with capture() as captured:
        made = loop_of(
            ScriptedModel(["Hello."]),
            (),
            captured,
            content=loop,
            configuration=Configuration(content=configuration),
        )
        made.run("Hello?", options=ToolOptions(content=run))
    assert (captured.spans[-1].attributes or {})[names.CONTENT] == expected


@pytest.mark.parametrize("made", [Configuration, ToolOptions])
def test_an_unknown_content_is_an_error(made: Any) -> None:
    with pytest.raises(ConfigurationError, match="content 'all' is unknown"):
        made(content="all")

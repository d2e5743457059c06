"""A whole run as text: the strip, findings, each step with what is new; nothing is obeyed."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings

from loopspan.runs import Run
from loopspan.runs.permitted import without_content
from loopspan.runs.text.markdown import as_markdown
from loopspan.runs.text.report import as_text
from loopspan.runs.text.visible import visible
from loopspan.telemetry import semconv as names
from loopspan.testing import capture
from tests.runs.generated import Case, cases, made
from tests.runs.text.shown import run_of, span


def parts(role: str, *told: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(told)}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


CALL = {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {"word": "span"}}
LONG = "é" * 30_502


def two_rounds(result: str = LONG) -> Run:
    chat = {names.PROVIDER_NAME: "openai", names.REQUEST_MODEL: "m-1"}
    answer = {"type": "tool_call_response", "id": "c1", "name": "look_up", "response": result}
    return run_of(
        span(
            2,
            names.CHAT,
            10,
            310,
            **chat,
            **{
                names.ROUND: 1,
                names.INPUT_OFFSET: 0,
                names.INPUT_MESSAGES: json.dumps([parts("user", text("What is a span?\x1b[2J"))]),
                names.OUTPUT_MESSAGES: json.dumps([parts("assistant", CALL)]),
                names.TOOL_DEFINITIONS: json.dumps([{"type": "function", "name": "look_up"}]),
                names.RESPONSE_FINISH_REASONS: ["tool_call"],
                names.USAGE_INPUT_TOKENS: 9,
                names.USAGE_OUTPUT_TOKENS: 3,
            },
        ),
        span(
            3,
            names.EXECUTE_TOOL,
            320,
            420,
            **{
                names.ROUND: 1,
                names.TOOL_NAME: "look_up",
                names.TOOL_CALL_ARGUMENTS: json.dumps(CALL["arguments"]),
                names.TOOL_CALL_RESULT: json.dumps({"result": result}, separators=(",", ":")),
            },
        ),
        span(
            4,
            names.CHAT,
            430,
            930,
            **chat,
            **{
                names.ROUND: 2,
                names.INPUT_OFFSET: 2,
                names.INPUT_MESSAGES: json.dumps([parts("tool", answer)]),
                names.OUTPUT_MESSAGES: json.dumps([parts("assistant", text("It is a"))]),
                names.TOOLS_ROUND: 1,
                names.RESPONSE_FINISH_REASONS: ["length"],
                names.USAGE_INPUT_TOKENS: 20,
                names.USAGE_OUTPUT_TOKENS: 4,
            },
        ),
        **{names.MAX_ROUNDS: 5},
    )


def test_a_run_as_text() -> None:
    shown = as_text(two_rounds(), ["Tempo gave a part of the trace only"])
    assert shown.replace("é" * 25_000, "(25,000 é)").replace("é" * 91, "(91 é)") == (
        "Run run-1  support · m-1\n"
        "  outcome    Answered\n"
        "  rounds     2/5\n"
        "  tool calls 1\n"
        "  tokens     29 in / 7 out\n"
        "  cost       $0.012 by the price table\n"
        "  time       1.00 s\n"
        "  of which   800 ms in the model · 100 ms in tools · 100 ms elsewhere\n"
        "  trace      0af7651916cd43dd8448eb211c80319c\n"
        "  started    2026-05-01 12:53:20.000+00:00\n"
        "  warning    Tempo gave a part of the trace only\n"
        "\n"
        "Findings  1 finding\n"
        "  warning    1 reply was cut at the limit of output tokens  in step 4\n"
        "             Raise max_tokens, or ask for a shorter answer.\n"
        "\n"
        "[0] Round 1  openai m-1\n"
        "  user       What is a span?\\x1b[2J\n"
        "  tools      look_up\n"
        "\n"
        "[1] Reply  300 ms · 9 in / 3 out tokens · tool_call\n"
        '  → look_up(word="span")\n'
        "\n"
        '[2] Tool look_up(word="span")  100 ms\n'
        "  (25,000 é)\n"
        "  … 11,004 of 61,004 bytes left out\n"
        "\n"
        "[3] Round 2  openai m-1\n"
        "  tool       look_up: (91 é) …\n"
        "  tools      the same 1\n"
        "\n"
        "[4] Reply  500 ms · 20 in / 4 out tokens · length\n"
        "  It is a\n"
    )


def test_a_result_that_no_step_has_shown_is_shown_with_the_request() -> None:
    """Other instrumentations have no spans for tools."""
    run = two_rounds("it is\na thing")
    shown = as_text(run.model_copy(update={"steps": (*run.steps[:2], *run.steps[3:])}))
    assert "  tool       look_up: it is\n             a thing\n" in shown


def test_text_without_content_says_why() -> None:
    shown = as_text(two_rounds(), content=False)
    assert "[3] Round 2  openai m-1\n  messages   not permitted\n  tools      the same 1\n" in shown
    assert "\n  → look_up(…)\n" in shown
    assert "[2] Tool look_up(…)  100 ms\n  result     not permitted\n" in shown
    assert "in step 4" in shown
    for word in ("What is", "é", '"span"', "It is a"):
        assert word not in shown


def test_an_error_is_told_with_its_words_and_without_content_by_its_kind() -> None:
    told = {names.ERROR_TYPE: "429", names.OUTCOME: "error"}
    run = run_of(span(2, names.CHAT, 0, 5, **{names.ERROR_TYPE: "429"}), **told)
    assert "  outcome    Failed: 429\n  error      it failed\n" in as_text(run)
    assert "  error      429: it failed\n" in as_text(run)
    assert "it failed" not in as_text(run, content=False)


def test_a_name_cannot_pass_for_a_line_of_the_report() -> None:
    name = "f\n[9] Reply"
    told = {names.TOOL_NAME: name, names.ERROR_TYPE: "unknown_tool"}
    asked = {names.REQUEST_MODEL: name, names.RESPONSE_FINISH_REASONS: [name]}
    run = run_of(
        span(2, names.CHAT, 0, 1, **asked),
        span(3, names.EXECUTE_TOOL, 1, 2, **told),
        **{names.AGENT_NAME: name},
    )
    assert "\n[9]" not in as_text(run)
    assert "\n[9]" not in as_markdown(run)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_any_run_becomes_text_that_is_safe_to_show(case: Case) -> None:
    with capture() as captured:
        run = made(case, captured).run
    for content in (True, False):
        shown = as_text(run, content=content)
        assert visible(shown) == shown
        assert sum(line.startswith("[") for line in shown.split("\n")) >= len(run.steps)


MARK = "s3cret"
ASSEMBLED = {
    "kind": "assembled",
    "round": None,
    "started_at": 0,
    "duration_ms": 1.0,
    "state": "ok",
    "span_id": None,
    "tools": [{"type": "function", "name": "f", "description": MARK}],
    "parts": [],
}


def marked(value: Any) -> Any:
    """A value with a mark in each of its texts."""
    match value:
        case str():
            return f"{value}{MARK}"
        case dict():
            return {key: marked(each) for key, each in value.items()}
        case list() | tuple():
            return [marked(each) for each in value]
        case _:
            return value


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_without_content_nothing_of_it_is_left(case: Case) -> None:
    with capture() as captured:
        run = made(case, captured).run
    steps = []
    for step in run.steps:
        told = step.model_dump()
        written = ("messages", "content", "thinking", "arguments", "result", "raw", "body")
        told |= {field: marked(told[field]) for field in written if field in told}
        if step.kind == "chat":
            told["thinking"] = MARK
        for call in told.get("tool_calls") or ():
            call["arguments"] = marked(call["arguments"])
        if told["error"]:
            told["error"]["message"] = MARK
        steps.append(told)
    body = {"model": MARK}
    dry: dict[str, Any] = {**ASSEMBLED, "messages": [parts("user", text(MARK))], "body": body}
    steps.append(dry)
    error = None if run.error is None else {"type": run.error.type, "message": MARK}
    whole = Run.model_validate(
        {**run.model_dump(), "steps": steps, "content": MARK, "error": error}
    )
    assert MARK not in without_content(whole).model_dump_json()

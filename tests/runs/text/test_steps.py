"""Steps as text, where they know little or have gone wrong."""

from typing import Any, get_args

import pytest

from loopspan.loop import Outcome
from loopspan.runs import AssembledStep, ChatStep, RequestStep, Run, RunStep, ToolStep
from loopspan.runs.steps import Cut, Missing, Retry, RunOutcome, StepError, TokenUsage
from loopspan.runs.text.steps import ALL, Limits, step_lines
from loopspan.runs.text.summary import OUTCOMES, summary

START: dict[str, Any] = {"round": 1, "started_at": 0, "span_id": "a", "duration_ms": 5.0}


def request(**changes: Any) -> RequestStep:
    known: dict[str, Any] = {
        "provider": "openai",
        "model": "m",
        "messages": (),
        "tools": (),
        "new_from": 0,
    }
    return RequestStep(**{**START, "state": "ok", "parameters": {}, **known, **changes})


def chat(**changes: Any) -> ChatStep:
    names = "response_model content thinking finish_reason finish_reason_raw tool_calls"
    unknown = dict.fromkeys([*names.split(), "cost_usd", "cost_source", "time_to_first_chunk_ms"])
    return ChatStep(**{**START, **unknown, "state": "ok", "usage": TokenUsage(), **changes})


def tool(**changes: Any) -> ToolStep:
    known: dict[str, Any] = {
        "tool_call_id": "c",
        "name": "f",
        "arguments": {},
        "result": None,
        "is_error": False,
    }
    return ToolStep(**{**START, "state": "ok", **known, **changes})


def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def shown(*steps: RunStep, limits: Limits | None = None) -> list[str]:
    return [str(line) for line in step_lines(steps, limits)]


def test_what_was_not_captured_is_said() -> None:
    missing = tuple(
        Missing(field=field, why="not_captured")
        for field in ("messages", "tools", "content", "result")
    )
    assert shown(
        request(messages=None, tools=None, new_from=None, missing=missing),
        chat(missing=missing),
        tool(missing=missing),
    ) == [
        "Round 1  openai m",
        "  messages   not captured",
        "  tools      not captured",
        "",
        "Reply  5.0 ms",
        "  content    not captured",
        "",
        "Tool f()  5.0 ms",
        "  result     not captured",
    ]


def test_messages_without_their_content_show_their_sizes() -> None:
    parts = [{"type": "text", "bytes": 1200}, {"type": "tool_call", "name": "f", "bytes": 2}]
    assert shown(request(messages=(message("user", *parts),)))[1:3] == [
        "  user       (text, 1,200 bytes)",
        "             (tool_call f, 2 bytes)",
    ]


def test_parts_of_all_kinds_are_shown_in_short() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "reasoning", "content": "Hm."},
        {"type": "tool_call", "name": "f", "arguments": {"a": [1], "b": "x"}},
        {"type": "tool_call", "name": "f", "arguments": "no json"},
        {"type": "tool_call_response", "response": {"a": 1}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="},
        {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
        {"type": "new_kind", "body": {}},
    ]
    assert shown(request(messages=(message("user", *parts),)), limits=ALL)[1:-1] == [
        "  user       (thinking, 3 characters)",
        '             → f(a=[1], b="x")',
        "             → f(no json)",
        '             {"a":1}',
        "             (blob, image, image/png)",
        "             (uri, image, https://example.org/a.png)",
        "             (new_kind)",
    ]


def test_only_new_messages_are_shown_and_later_ones_on_a_line() -> None:
    text = {"type": "text", "content": "one\ntwo"}
    messages = (message("user", text), message("assistant", text))
    again = request(messages=messages, new_from=1)
    assert "  assistant  one …" in shown(again)
    assert "  user       one" not in shown(again)
    assert "             two" in shown(again, limits=ALL)


def test_a_long_result_is_cut_and_says_how_much_more_there_is() -> None:
    lines = shown(tool(result="\n".join(map(str, range(40)))))
    assert lines[1:] == [*(f"  {n}" for n in range(12)), "  … 28 more lines"]


def test_a_result_that_the_loop_cut_says_so() -> None:
    cut = Cut(field="result", kept=50_000, total=120_000)
    assert shown(tool(result="x", cut=(cut,)))[-1] == (
        "  result     50,000 of 120,000 bytes went to the model"
    )


@pytest.mark.parametrize(
    ("step", "heading"),
    [
        (tool(state="error", error=StepError(type="timeout")), "Tool f()  failed after 5.0 ms"),
        (tool(state="cancelled"), "Tool f()  stopped after 5.0 ms"),
        (tool(state="lost", duration_ms=None), "Tool f()  lost"),
        (tool(is_error=True, result="x"), "Tool f()  5.0 ms · returned an error"),
        (
            tool(state="error", refused_by="admin_only", error=StepError(type="tool_refused")),
            "Tool f()  failed after 5.0 ms · refused: admin only",
        ),
        (chat(state="error", error=StepError(type="500")), "No reply  failed after 5.0 ms"),
        (
            chat(state="error", content="half an", error=StepError(type="BadResponse")),
            "Reply  failed after 5.0 ms",
        ),
        (
            chat(
                content="x",
                time_to_first_chunk_ms=2.0,
                usage=TokenUsage(input_tokens=1, output_tokens=2),
                cost_usd=0.5,
                finish_reason="stop",
                finish_reason_raw="STOP",
            ),
            "Reply  5.0 ms · first part after 2.0 ms · 1 in / 2 out tokens · $0.50 · stop (STOP)",
        ),
    ],
)
def test_heading(step: RunStep, heading: str) -> None:
    assert shown(step)[0] == heading


def test_retries_are_shown() -> None:
    retries = (
        Retry(attempt=1, status=429, delay_ms=1500),
        Retry(attempt=2, status=None, delay_ms=3000),
    )
    assert shown(chat(content="x", retries=retries))[1:3] == [
        "  retry      attempt 1 answered 429, waited 1.50 s",
        "  retry      attempt 2 failed, waited 3.00 s",
    ]


def test_what_was_left_out_of_a_prompt_is_shown_with_its_reason() -> None:
    parts = (
        {"type": "user", "bytes": 2, "message": 0, "start": 0, "end": 2},
        {"type": "skill", "id": "a/b", "bytes": 90, "dropped": "unknown_tag"},
    )
    text = message("user", {"type": "text", "content": "hi"})
    step = AssembledStep(
        **{**START, "round": None}, state="ok", messages=(text,), tools=(), parts=parts, body=None
    )
    assert shown(step) == [
        "Messages  1 message",
        "  user       user · 2 bytes",
        "    hi",
        "  left out   skill a/b · 90 bytes · unknown tag",
        "",
        "Tools  0 tools",
        "",
        "Body  as it would be sent",
        "  body       not recorded",
    ]


def run(outcome: RunOutcome, *steps: RunStep, **changes: Any) -> Run:
    known: dict[str, Any] = {
        "run_id": "r",
        "trace_id": None,
        "configuration": None,
        "model": "m",
        "truncated": False,
        "rounds": 1,
        "max_rounds": 5,
        "tool_calls": 0,
        "usage": TokenUsage(),
        "cost_usd": None,
        "cost_source": None,
        "started_at": 0,
        "duration_ms": 1240.0,
        "content": None,
        "parts": None,
    }
    return Run(**{**known, "outcome": outcome, "steps": steps, **changes})


def facts(of: Run) -> dict[str, str]:
    return dict(summary(of).facts)


def test_every_outcome_has_its_words_and_success_is_only_what_says_so() -> None:
    assert set(OUTCOMES) == set(get_args(RunOutcome)) >= set(get_args(Outcome))
    good = {outcome for outcome, (_, style) in OUTCOMES.items() if style == "good"}
    assert good == {"completed", "dry_run"}


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        ({"cost_usd": 0.0, "cost_source": "provider"}, "$0 by the provider"),
        ({"cost_usd": 0.25, "cost_source": "table"}, "$0.25 by the price table"),
        ({}, "unknown: no price"),
        (
            {"missing": (Missing(field="cost_usd", why="no_price", detail="no usage reported"),)},
            "unknown: no usage reported",
        ),
        ({"steps": (chat(state="error"),)}, "unknown: a round has no reply"),
    ],
)
def test_cost(changes: dict[str, Any], cost: str) -> None:
    assert facts(run("completed", **changes))["cost"] == cost


def test_tokens_that_are_known_in_part_say_which_round_lacks_them() -> None:
    missing = tuple(
        Missing(field=f"usage.{name}", why="not_reported", detail="not reported in round 2")
        for name in ("input_tokens", "output_tokens")
    )
    usage = TokenUsage(input_tokens=3, output_tokens=4)
    assert facts(run("completed", usage=usage, missing=missing))["tokens"] == (
        "3 in / 4 out, not reported in round 2"
    )


@pytest.mark.parametrize(
    ("rounds", "most", "words"), [(2, 5, "2/5"), (3, None, "3"), (6, 5, "5/5 and a closing answer")]
)
def test_rounds(rounds: int, most: int | None, words: str) -> None:
    assert facts(run("completed", rounds=rounds, max_rounds=most))["rounds"] == words


def test_a_run_without_a_round_has_neither_tokens_nor_cost() -> None:
    assert list(facts(run("budget_time", rounds=0))) == ["rounds", "tool calls", "time"]

"""`loopspan run`: what it prints, what it sends, how it ends."""

import json

import httpx
import pytest

from loopspan.cli import main
from loopspan.runs import Run
from loopspan.testing import Answer, message
from tests.cli.command import objects, scripted

Out = pytest.CaptureFixture[str]


def calling(*names_and_arguments: tuple[str, dict[str, object]], say: str = "") -> Answer:
    return message(say or None, tool_calls=names_and_arguments)


ANSWER = """\
Round 1  openai gpt-4o-mini · max_tokens 50 · temperature 0.5
  system     Be brief.
  user       Shout hello!
  tools      shout

Reply  TIME · 10 in / 5 out tokens · $0.0000045 · tool_call (tool_calls)
  thinking   Which word?
             Hello.
  I shout.
  → shout(word="hello")

Tool shout(word="hello")  TIME
  HELLO

Round 2  openai gpt-4o-mini · max_tokens 50 · temperature 0.5
  tool       shout: HELLO
  tools      the same 1

Reply  TIME · 20 in / 5 out tokens · $0.0000060 · stop
  HELLO!

Answered
  rounds     2/3
  tool calls 1
  tokens     30 in / 10 out
  cost       $0.000011 by the price table
  time       TIME
  trace      ID
"""


def without_times(text: str) -> str:
    import re

    text = re.sub(r"\d+(\.\d+)? m?s\b", "TIME", text)
    return re.sub(r"\b[0-9a-f]{32}\b", "ID", text)


def test_piped_output_is_plain_lines(capsys: Out, tool_module: str) -> None:
    asking = message(
        "I shout.",
        tool_calls=[("shout", {"word": "hello"})],
        reasoning_content="Which word?\nHello.",
    )
    options = ["--max-rounds", "3", "--temperature", "0.5", "--max-tokens", "50"]
    with scripted(asking, "HELLO!") as (model, to_it):
        arguments = ["run", "Shout hello!", *to_it, "--tools", tool_module, "--allow", "shout"]
        assert main([*arguments, "--system", "Be brief.", *options]) == 0
    out, err = capsys.readouterr()
    assert without_times(out) == ANSWER
    assert err == "imported\nshouting\n"
    assert model.requests[0]["max_completion_tokens"] == 50
    assert model.requests[0]["messages"][0] == {"role": "system", "content": "Be brief."}


def test_json_is_an_object_a_line(capsys: Out, tool_module: str) -> None:
    with scripted(calling(("shout", {"word": "hi"})), "HI") as (_, to_it):
        assert main(["run", "x", *to_it, "--tools", tool_module, "--json"]) == 0
    out, err = capsys.readouterr()
    *steps, last = objects(out)
    assert [(s["event"], s["step"]["kind"], s["step"]["state"]) for s in steps] == [
        ("step", "request", "ok"),
        ("step", "chat", "ok"),
        ("step", "tool", "open"),
        ("step", "tool", "ok"),
        ("step", "request", "ok"),
        ("step", "chat", "ok"),
    ]
    run = Run.model_validate(last["run"])
    assert last["event"] == "run"
    assert (run.outcome, run.content, run.rounds) == ("completed", "HI", 2)
    assert [s["step"] for s in steps if s["step"]["state"] != "open"] == last["run"]["steps"]
    assert err == "imported\nshouting\n"


def test_json_of_a_stream_tells_its_pieces(capsys: Out) -> None:
    answer = message("It is noon.", reasoning_content="Hm.")
    with scripted(answer) as (model, to_it):
        assert main(["run", "x", *to_it, "--no-tools", "--stream", "--json"]) == 0
    events = objects(capsys.readouterr().out)
    assert [e for e in events if e["event"] in ("text", "thinking")] == [
        {"event": "thinking", "round": 1, "text": "Hm."},
        {"event": "text", "round": 1, "text": "It is no"},
        {"event": "text", "round": 1, "text": "on."},
    ]
    assert events[0]["step"]["kind"] == "request"
    assert events[-1]["run"]["content"] == "It is noon."
    assert model.requests[0]["stream"] is True


def test_json_of_a_failed_run_ends_with_the_run(capsys: Out) -> None:
    refusal = httpx.Response(401, json={"error": {"message": "no", "code": "invalid_api_key"}})
    with scripted(refusal) as (_, to_it):
        assert main(["run", "x", *to_it, "--json"]) == 1
    out, err = capsys.readouterr()
    assert objects(out)[-1]["run"]["outcome"] == "error"
    assert err == (
        "error: openai answered 401 (invalid_api_key): no. Check the provider's key variable; "
        "`loopspan check` shows which are set.\n"
    )


@pytest.mark.parametrize(
    ("answers", "options", "code", "words"),
    [
        (["yes"], [], 0, "Answered"),
        ([message("ye", finish_reason="length")], [], 3, "Cut short: the answer reached"),
        ([message("", finish_reason="content_filter")], [], 1, "Blocked: "),
        ([message("", finish_reason="error")], [], 1, "Failed"),
        ([calling(("current_time", {})), "noon"], ["--max-rounds", "1"], 3, "Cut short: it used"),
    ],
)
def test_exit_code_and_outcome(
    capsys: Out, answers: list[Answer], options: list[str], code: int, words: str
) -> None:
    with scripted(*answers) as (_, to_it):
        assert main(["run", "x", *to_it, *options]) == code
    assert f"\n{words}" in capsys.readouterr().out


def test_the_closing_answer_is_told_apart_from_the_rounds(capsys: Out) -> None:
    with scripted(calling(("current_time", {})), "noon") as (_, to_it):
        main(["run", "x", *to_it, "--max-rounds", "1"])
    assert "  rounds     1/1 and a closing answer\n" in capsys.readouterr().out


def test_a_finish_that_is_an_error_is_told_with_advice(capsys: Out) -> None:
    with scripted(message("", finish_reason="error")) as (_, to_it):
        main(["run", "x", *to_it])
    assert "error: openai (BadResponse): the model ended its answer" in capsys.readouterr().err


def test_a_failing_tool_shows_its_error_in_its_place_and_no_traceback(
    capsys: Out, tool_module: str
) -> None:
    with scripted(calling(("fail", {})), "sorry") as (model, to_it):
        assert main(["run", "x", *to_it, "--tools", tool_module]) == 0
    out, err = capsys.readouterr()
    assert "  error      ValueError: the tool's own secret words\n" in out
    assert err == "imported\n"
    assert "secret" not in json.dumps(model.requests)


DRY = """\
Messages  2 messages
  system     override · 9 bytes
    Be brief.
  user       user · 2 bytes
    hi

Tools  1 tool
  shout  Shout a word.

Context  about 49 tokens, an estimate; its window is 128,000 by the table

Body  as it would be sent
  {
    "model": "gpt-4o-mini",
"""


def test_a_dry_run_shows_all_and_sends_nothing(capsys: Out, tool_module: str) -> None:
    with scripted() as (model, to_it):
        arguments = ["run", "hi", *to_it, "--tools", tool_module, "--allow", "shout", "--dry-run"]
        assert main([*arguments, "--system", "Be brief."]) == 0
        out = capsys.readouterr().out
        assert main([*arguments, "--json"]) == 0
    assert model.requests == []
    assert out.startswith(DRY)
    assert out.splitlines()[-2] == "Dry run: nothing was sent"
    step, run = objects(capsys.readouterr().out)
    assert step["step"]["kind"] == "assembled"
    assert step["step"]["body"]["messages"] == [{"role": "user", "content": "hi"}]
    assert run["run"]["outcome"] == "dry_run"


def test_raw_bodies_are_shown_where_they_are_asked_for(capsys: Out) -> None:
    with scripted("yes", "yes") as (model, to_it):
        main(["run", "x", *to_it, "--no-tools"])
        assert "raw body" not in capsys.readouterr().out
        main(["run", "x", *to_it, "--no-tools", "--capture-raw"])
    out = capsys.readouterr().out
    assert f"  raw body   sent, {len(model.wire[1])} bytes\n    {model.wire[1].decode()}\n" in out
    assert "  raw body   received, " in out


def test_text_of_model_and_tool_cannot_reach_the_terminal(capsys: Out, tool_module: str) -> None:
    asking = calling(("shout", {"word": "\x1b[2Jx\u202e"}), say="\x9b31m[bold]")
    with scripted(asking, "\x1b]0;owned\x07", asking, "done") as (_, to_it):
        main(["run", "x", *to_it, "--tools", tool_module])
        main(["run", "x", *to_it, "--tools", tool_module, "--json"])
    out = capsys.readouterr().out
    assert {char for char in out if not char.isprintable()} == {"\n"}
    assert r"  \x9b31m[bold]" in out
    assert r"  \x1b]0;owned\x07" in out
    assert r"  \x1b[2JX\u202e" in out


def test_no_key_is_ever_shown(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-this-is-the-key-1234567890"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    refusal = httpx.Response(401, json={"error": {"message": f"wrong key {key}"}})
    with scripted(refusal, refusal) as (_, to_it):
        main(["run", "x", *to_it, "--capture-raw"])
        main(["run", "x", *to_it, "--capture-raw", "--json"])
    main(["run", "x", "--model", key])  # a slip that would put it into the error
    out, err = capsys.readouterr()
    assert key not in out + err
    assert "wrong key **********" in err


def test_an_address_where_nobody_answers_is_named(capsys: Out) -> None:
    with scripted() as (_, to_it):
        pass
    assert main(["run", "x", *to_it]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: openai (ConnectionFailed): ")
    assert err.endswith(f"The address was {to_it[-1]}.\n")


@pytest.mark.parametrize("value", ["true", " TRUE "])
def test_switched_off_tracing_is_said(
    capsys: Out, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", value)
    with scripted() as (_, to_it):
        assert main(["run", "x", *to_it]) == 2
    assert "OTEL_SDK_DISABLED is true" in capsys.readouterr().err


def test_sampler_and_limits_of_the_environment_take_nothing_away(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "10")
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "2")
    monkeypatch.setenv("OTEL_SPAN_LINK_COUNT_LIMIT", "no number")
    with scripted("a whole answer") as (_, to_it):
        assert main(["run", "a whole question", *to_it]) == 0
    out = capsys.readouterr().out
    assert "  user       a whole question\n" in out
    assert "  a whole answer\n" in out


def test_without_a_model_the_demo_answers_and_says_so(capsys: Out) -> None:
    assert main(["run", "What time is it, and which Python is this?"]) == 0
    out, err = capsys.readouterr()
    assert err == "note: no --model given; using demo:, an embedded model without account or key\n"
    assert "Tool current_time(" in out
    assert "Tool python_information()" in out
    assert "  cost       $0 by the provider\n" in out


@pytest.mark.parametrize("options", [[], ["--stream"]])
def test_a_dry_run_shows_the_body_of_the_run_that_was_asked_for(
    capsys: Out, options: list[str]
) -> None:
    with scripted("Hi.") as (model, to_it):
        arguments = ["run", "hi", *to_it, "--no-tools", "--json", *options]
        assert main([*arguments, "--dry-run"]) == 0
        step, _ = objects(capsys.readouterr().out)
        assert main(arguments) == 0
    assert [step["step"]["body"]] == model.requests

"""Each finding where it must fire, with the steps that show it, and where it must stay silent."""

import pytest

from loopspan import Budget, LoopspanError, RunAugmentation, ToolOptions, tool
from loopspan.prompts import Library, Skill, body_checksum
from loopspan.runs import ChatStep, Finding, Run, ToolStep, findings
from loopspan.telemetry.content import Content
from loopspan.testing import Answer, ScriptedModel, calls, capture, message
from tests.loop.ways import loop_of


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return {"long": "x" * 60_000, "nothing": " \n", "none": "[]"}.get(word, f"about {word}")


@tool
def count_up() -> int:
    """Count."""
    return next(_numbers)


_numbers = iter(range(1000))


@tool
def fail(n: int = 0) -> str:
    """Fail."""
    raise ValueError("no")


def run_of(
    *answers: Answer,
    content: Content = "full",
    options: ToolOptions | None = None,
    augmentation: RunAugmentation | None = None,
    library: Library | None = None,
    dry_run: bool = False,
) -> Run:
    with capture() as captured:
        model = ScriptedModel(answers)
        tools = (look_up, count_up, fail)
        loop = loop_of(model, tools, captured, content=content, library=library)
        try:
            result = loop.run("Go.", options=options, augmentation=augmentation, dry_run=dry_run)
        except LoopspanError as error:
            result = error.result
        return result.run


def found(run: Run, id: str) -> list[Finding]:
    return [finding for finding in findings(run) if finding.id == id]


def kinds(run: Run, finding: Finding) -> list[str]:
    return [run.steps[n].kind for n in finding.steps]


def test_a_run_without_a_flaw_has_no_findings() -> None:
    run = run_of(calls("look_up", word="a"), calls("look_up", word="b"), "Done.")
    assert findings(run) == ()


@pytest.mark.parametrize("content", ["off", "metadata"])
def test_what_is_not_recorded_is_no_finding(content: Content) -> None:
    """Nothing is known of arguments and results, so nothing is said about them."""
    same = calls("look_up", word="nothing")
    assert findings(run_of(same, same, "Done.", content=content)) == ()


def test_length_stop_names_the_replies_that_were_cut() -> None:
    run = run_of(calls("look_up", word="a"), message("It is", finish_reason="length"))
    [finding] = found(run, "length_stop")
    assert finding.steps == (4,)
    step = run.steps[4]
    assert isinstance(step, ChatStep)
    assert (step.content, finding.severity) == ("It is", "warning")
    assert "max_tokens" in finding.hint


def test_length_stop_is_silent_where_replies_ended_by_themselves() -> None:
    assert found(run_of(calls("look_up", word="a"), "It is."), "length_stop") == []


def test_limit_reached_names_the_reply_that_still_called_tools() -> None:
    run = run_of(
        calls("look_up", word="a"),
        calls("look_up", word="b"),
        "So far.",
        options=ToolOptions(max_rounds=2),
    )
    [finding] = found(run, "limit_reached")
    assert run.outcome == "max_rounds"
    assert finding.steps == (4,)
    assert kinds(run, finding) == ["chat"]


def test_limit_reached_tells_of_a_spent_budget_without_content_too() -> None:
    run = run_of(
        calls("look_up", word="a"),
        content="off",
        options=ToolOptions(budget=Budget(tokens=1)),
    )
    [finding] = found(run, "limit_reached")
    assert run.outcome == "budget_tokens"
    assert kinds(run, finding) == ["tool"]
    assert "budget of tokens" in finding.title


@pytest.mark.parametrize(
    "options", [ToolOptions(max_rounds=2), ToolOptions(budget=Budget(seconds=0))]
)
def test_limit_reached_is_silent_where_no_call_waited(options: ToolOptions) -> None:
    run = run_of(calls("look_up", word="a"), "Done.", options=options)
    assert found(run, "limit_reached") == []


def test_repeated_call_names_all_calls_that_were_alike() -> None:
    """The order of the arguments makes no difference, a number's type does."""
    run = run_of(
        message(
            tool_calls=[
                ("look_up", {"word": "a", "more": [1, 2]}),
                ("look_up", '{"more": [1, 2], "word": "a"}'),
                ("fail", {"n": 1}),
                ("fail", {"n": True}),
                ("fail", {"n": 1}),
            ]
        ),
        "Done.",
        options=ToolOptions(parallel=1),
    )
    repeated = found(run, "repeated_call")
    assert [f.steps for f in repeated] == [(2, 3), (4, 6)]
    assert [f.title.split()[0] for f in repeated] == ["look_up", "fail"]


def test_repeated_call_is_silent_where_the_result_was_another() -> None:
    run = run_of(calls("count_up"), calls("count_up"), "Done.")
    assert found(run, "repeated_call") == []


def test_bad_call_names_reply_and_call_of_a_tool_that_was_not_offered() -> None:
    run = run_of(
        message(tool_calls=[("look_down", {}), ("count_up", {})]),
        "Done.",
        options=ToolOptions(allow=("look_up",), parallel=1),
    )
    [finding] = found(run, "bad_call")
    assert finding.steps == (1, 2, 3)
    assert "look_down, count_up" in finding.title


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [('{"word": ', (1, 2)), ("[1]", (1, 2)), ('{"wort": "a"}', (2,)), ('{"word": {}}', (2,))],
)
def test_bad_call_tells_of_arguments_that_do_not_fit(
    arguments: str, steps: tuple[int, ...]
) -> None:
    """The reply shows it where they are no object, else the call that was refused for it."""
    run = run_of(message(tool_calls=[("look_up", arguments)]), "Done.")
    [finding] = found(run, "bad_call")
    assert finding.steps == steps
    assert "look_up" in finding.title
    assert arguments not in finding.title


def test_bad_call_is_silent_where_a_tool_itself_failed() -> None:
    run = run_of(calls("fail"), calls("fail", n=1), "Done.")
    assert [step.is_error for step in run.steps if isinstance(step, ToolStep)] == [True, True]
    assert found(run, "bad_call") == []


def test_cut_or_empty_result_tells_one_from_the_other() -> None:
    asked = [("look_up", {"word": word}) for word in ("long", "nothing", "a", "none")]
    run = run_of(message(tool_calls=asked), "Done.", options=ToolOptions(parallel=1))
    cut, empty = found(run, "cut_or_empty_result")
    assert (cut.steps, empty.steps) == ((2,), (3, 5))
    assert (cut.severity, empty.severity) == ("warning", "info")


def test_cut_or_empty_result_is_silent_where_a_call_failed() -> None:
    assert found(run_of(calls("fail"), "Done."), "cut_or_empty_result") == []


LIBRARY = Library(
    skills=(
        Skill("kept", "Keep.", checksum=body_checksum("Keep.")),
        Skill("changed", "New.", checksum=body_checksum("Old.")),
    )
)


def test_source_dropped_names_what_was_left_out_and_why() -> None:
    asked = RunAugmentation(skills=("kept", "changed"), snippets=("gone",))
    run = run_of("Done.", augmentation=asked, library=LIBRARY)
    [finding] = found(run, "source_dropped")
    assert finding.steps == (0,)
    assert "snippet gone (missing), skill changed (checksum)" in finding.title


def test_source_dropped_tells_of_a_dry_run_too() -> None:
    asked = RunAugmentation(skills=("changed",))
    run = run_of(augmentation=asked, library=LIBRARY, dry_run=True)
    [finding] = found(run, "source_dropped")
    assert kinds(run, finding) == ["assembled"]


def test_source_dropped_is_silent_where_a_skill_is_there_twice() -> None:
    run = run_of("Done.", augmentation=RunAugmentation(skills=("kept", "kept")), library=LIBRARY)
    assert run.parts is not None
    assert "duplicate" in [part.get("dropped") for part in run.parts]
    assert found(run, "source_dropped") == []

"""What the page shows of a run, rule by rule."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from loopspan import tool
from loopspan.playground import Principal
from loopspan.testing import Answer, calls, message
from tests.playground.browser.pages import Desk, each_tab, ended, fill_prompt, look_at, run
from tests.playground.browser.spans import TracedRun
from tests.playground.served import served

pytestmark = pytest.mark.browser


@tool
def long() -> str:
    """Give a long text."""
    return "x" * 60_000


def test_r2_error_in_mid_run_takes_nothing_away(open_desk: Desk) -> None:
    """R2, must-have 11: rows stay, the error is one more, and a reload shows the same."""
    failed = httpx.Response(400, json={"error": {"message": "no more"}})
    page, _ = open_desk.open(served(calls("add", a=1, b=2), failed))
    run(page)
    expect(page.locator(".step")).to_have_count(5)
    expect(page.locator("#step-5")).to_contain_text("400")
    before = page.locator(".step").all_inner_texts()
    page.reload()
    expect(page.locator(".step")).to_have_count(5)
    assert page.locator(".step").all_inner_texts() == before


def test_r6_message_without_text_shows_its_calls(open_desk: Desk) -> None:
    """R6, must-haves 4 and 5: calls, ids, arguments; jumps to result and definition."""
    page, _ = open_desk.open(served(calls("add", id="call_7", a=1, b=2), ""))
    run(page)
    page.locator("#step-2").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Tool call add call_7")
    expect(panel).to_contain_text('"a": 1')
    panel.get_by_role("button", name="result").click()
    expect(page.locator("#step-3")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Arguments").click()
    panel.get_by_role("button", name="definition").click()
    expect(page.get_by_role("tab", selected=True)).to_contain_text("Tools")
    expect(panel).to_contain_text("Add two numbers.")
    expect(panel.locator("tr", has_text="integer").first).to_contain_text("required")
    page.locator("#step-5").click()
    expect(panel).to_contain_text("The model answered with no text and no tool call.")


def test_r7_numbers_are_what_their_labels_say(open_desk: Desk) -> None:
    """R7, must-have 23: unknown is a dash with a reason, a sum with a gap a lower bound."""
    answers: list[Answer] = [
        message(tool_calls=[("add", {"a": 1, "b": 2})]),
        httpx.Response(200, json={"choices": [{"message": {"role": "assistant", "content": "3"}}]}),
    ]
    page, _ = open_desk.open(served(*answers))
    run(page)
    strip = page.locator("#strip")
    expect(strip).to_contain_text(re.compile(r"Tokens in≥ \d"))
    expect(strip).to_contain_text("Cost—unknown: no price")
    expect(strip).to_contain_text(re.compile(r"model .* \+ tools .* \+ other"))
    page.locator("#step-5").click()
    page.get_by_role("tab", name="Usage").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Tokens in— not reported by the provider")


def test_r8_what_was_sent_is_shown(open_desk: Desk) -> None:
    """R8, must-haves 1, 5, 6: parameters, model asked and served, the provider's own word."""
    choice = {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "length"}
    answer = httpx.Response(200, json={"model": "scripted-1-mini", "choices": [choice]})
    page, _ = open_desk.open(served(answer))
    fill_prompt(page, "Hi")
    page.locator("summary", has_text="Limits and parameters").click()
    page.get_by_label("Temperature").fill("0.5")
    run(page, "Hi")
    expect(page.locator("#strip")).to_contain_text("served by scripted-1-mini")
    page.locator("#step-1").click()
    page.get_by_role("tab", name="Parameters").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("temperature0.5")
    page.locator("#step-2").click()
    expect(panel).to_contain_text("Finished: cut at its length limit")
    expect(panel).to_contain_text("the provider's word: length")


def test_findings_lead_to_their_steps(open_desk: Desk) -> None:
    """N8, must-have 12: what looks wrong stands on the first screen, with its evidence."""
    page, _ = open_desk.open(served(message("Hi", finish_reason="length")))
    run(page, "Hi")
    page.locator("#step-1").click()
    findings = page.get_by_role("list", name="Findings")
    findings.get_by_role("button").first.click()
    expect(page.locator("#step-2")).to_have_attribute("aria-selected", "true")


def test_context_chart_has_a_button_for_each_round(open_desk: Desk) -> None:
    """N3, must-have 9: a round is a button; the same numbers stand in a table."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "3"))
    run(page)
    page.locator("#chart").get_by_role("button", name="Round 2").click()
    expect(page.locator("#step-4")).to_have_attribute("aria-selected", "true")
    page.locator("summary", has_text="As a table").click()
    expect(page.locator("#chart-table tbody tr")).to_have_count(2)


def test_r10_unknown_kind_is_a_row_with_its_json(open_desk: Desk) -> None:
    """R10, R6: nothing falls into another kind's branch; what is not captured says so."""
    desk = served()
    page, _ = open_desk.open(desk)
    traced = TracedRun(desk.run_trace)
    traced.tools(1)
    traced.end()

    def told(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        value = answer.json()
        value["steps"][0] |= {"kind": "dream"}
        route.fulfill(response=answer, json=value)  # type: ignore[attr-defined]

    page.route("**/api/runs/traced?*", told)
    page.locator("#runs-rows a").first.click()
    expect(page.locator("#step-1")).to_contain_text("unknown kind dream")
    expect(page.get_by_role("tabpanel")).to_contain_text('"kind": "dream"')


def test_pg_08_switches_are_remembered_and_nothing_ticked_is_nothing(open_desk: Desk) -> None:
    """PG-08, R11: each switch reaches the request, and is there when the form opens again."""
    desk = served("Hi")
    page, _ = open_desk.open(desk)
    page.get_by_role("checkbox", name="numbers").uncheck()
    page.get_by_label("fail").uncheck()
    page.get_by_label("Keep raw bodies").check()
    page.locator("summary", has_text="Limits and parameters").click()
    page.get_by_label("Max tokens").fill("50")
    page.get_by_label("Thinking").select_option("on")
    page.locator("summary", has_text="Override").click()
    page.get_by_label("System prompt for this run").fill("Be brief.")
    run(page, "Hi")
    [sent] = desk.model.requests
    assert "tools" not in sent
    assert sent["max_completion_tokens"] == 50
    assert sent["reasoning_effort"] == "medium"
    assert sent["messages"][0]["content"] == "Be brief."
    page.reload()
    page.locator("#app").wait_for()
    page.locator("#launch-box > summary").click()
    expect(page.get_by_label("fail")).not_to_be_checked()
    expect(page.get_by_label("Keep raw bodies")).to_be_checked()
    expect(page.locator("#max_tokens")).to_have_value("50")
    expect(page.locator("#thinking")).to_have_value("on")
    expect(page.locator("#system")).to_have_value("Be brief.")
    expect(page.locator("#prompt")).to_have_value("Hi")


def test_group_of_tools_has_three_states(open_desk: Desk) -> None:
    """PG-08: ticked, empty, neither."""
    page, _ = open_desk.open(served())
    group = page.get_by_label("numbers")
    expect(group).to_be_checked()
    page.get_by_label("add").uncheck()
    assert group.evaluate("(box) => box.indeterminate")
    page.get_by_label("reset").uncheck()
    expect(group).not_to_be_checked()


def test_no_content_permission_shows_no_content(open_desk: Desk) -> None:
    """7.3, R6: numbers and names without a text of anybody, and a sentence that says why."""
    desk = served("SECRET answer", principal=Principal("ops", frozenset({"view", "run"})))
    page, _ = open_desk.open(desk)
    for box in page.locator("#tools [name=tool]").all():
        box.uncheck()
    run(page, "SECRET prompt")
    page.locator("#step-1").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("you may not see content here")
    for step in (1, 2):
        look_at(page, step)
        for _ in each_tab(page):
            assert "SECRET" not in panel.inner_text()
    expect(page.locator("#search")).to_be_disabled()
    expect(page.locator("#export")).to_be_disabled()
    assert "SECRET" not in page.locator("#runs").inner_text()


def test_view_alone_has_no_form(open_desk: Desk) -> None:
    page, _ = open_desk.open(served(principal=Principal("eye", frozenset({"view"}))))
    expect(page.locator("#launch")).to_be_hidden()


def test_every_cap_is_visible(open_desk: Desk) -> None:
    """Must-have 24: what was cut, how much, why."""
    page, _ = open_desk.open(served(calls("long"), "ok", tools=[long]))
    run(page)
    row = page.locator("#step-3")
    expect(row).to_contain_text("cut to 50 KB")
    row.click()
    page.get_by_role("tab", name="Result").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("50 KB of 60 KB kept")
    expect(page.locator("#badges")).to_contain_text("1 value cut")


def test_redaction_is_marked_in_place(open_desk: Desk) -> None:
    """Must-have 25."""
    key = "sk-proj-" + "a1B2c3D4" * 6
    failed = httpx.Response(400, json={"error": {"message": f"bad key {key}"}})
    page, _ = open_desk.open(served(failed))
    run(page)
    expect(page.get_by_role("tabpanel")).to_contain_text("400")
    assert key not in page.content()


def test_thinking_has_a_tab_of_its_own(open_desk: Desk) -> None:
    """Must-have 6; nested levels of agents (must-have 2) are steps of a deeper level."""
    page, _ = open_desk.open(served(message("3", reasoning_content="I think of sums.")))
    run(page)
    page.locator("#step-2").click()
    page.get_by_role("tab", name="Thinking").click()
    expect(page.get_by_role("tabpanel")).to_contain_text(re.compile("I think of sums|No thinking"))
    ended(page)


def test_retries_are_told_on_the_row_and_in_their_tab(open_desk: Desk) -> None:
    """Must-have 10: each attempt with its status and how long was waited."""
    busy = httpx.Response(503, json={"error": {"message": "busy"}}, headers={"retry-after": "0"})
    page, _ = open_desk.open(served(busy, "Hi"))
    run(page, "Hi")
    expect(page.locator("#step-2")).to_contain_text("1 retry")
    expect(page.locator("#step-2 .retry")).to_have_text("attempt 1: 503, again after 0 ms")
    page.locator("#step-2").click()
    page.get_by_role("tab", name="Usage").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Retry 1after status 503")

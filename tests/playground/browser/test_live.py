"""A run while it goes on: nothing that somebody looks at moves, and nothing is lost."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from loopspan.testing import calls
from tests.playground.browser.pages import Desk, Server, address, ended, fill_prompt, run
from tests.playground.browser.spans import TracedRun
from tests.playground.served import Served, served

pytestmark = pytest.mark.browser


def start(page: Page) -> None:
    """Press Run and wait until the run is open."""
    fill_prompt(page, "1 + 2?")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".verdict.running").wait_for()


def let_through(desk: Served, server: Server, count: int = 1) -> None:
    server.do(lambda: desk.gate.open(count))


def test_request_is_shown_before_its_answer(open_desk: Desk) -> None:
    """Must-have 3: the request row, then a waiting row whose clock runs."""
    desk = served("It is 3.")
    desk.gate.close()
    page, server = open_desk.open(desk)
    start(page)
    expect(page.locator("#step-1")).to_contain_text("request")
    waiting = page.locator("#step-2")
    expect(waiting).to_contain_text("waiting for the answer")
    clock = waiting.locator("run-clock")
    before = clock.inner_text()
    expect(clock).not_to_have_text(before)
    let_through(desk, server)
    ended(page)
    expect(waiting).to_contain_text("answered")


def test_what_is_unknown_says_why_once_the_run_is_over(open_desk: Desk) -> None:
    """R7, must-have 23: what is not known yet is not what nobody knows."""
    desk = served(calls("add", a=1, b=2), "It is 3.")
    desk.gate.close()
    page, server = open_desk.open(desk)
    start(page)
    let_through(desk, server)
    page.locator("#step-5").wait_for()
    page.reload()
    page.locator("#step-5").wait_for()
    cost = page.locator("#strip .figure").filter(has_text="Cost")
    expect(cost).to_contain_text("not known yet")
    let_through(desk, server)
    ended(page)
    expect(cost).to_contain_text("unknown: no price")


def test_run_is_cancelled_and_never_drawn_as_completed(open_desk: Desk) -> None:
    """R1, R9, must-have 17."""
    desk = served("It is 3.")
    desk.gate.close()
    page, _ = open_desk.open(desk)
    start(page)
    page.get_by_role("button", name="Cancel").click()
    ended(page)
    expect(page.locator(".verdict")).to_contain_text("Cancelled")
    expect(page.locator("#step-2")).to_have_attribute(
        "aria-label", re.compile("^Round 1, chat, cancelled, \\d")
    )
    page.reload()
    expect(page.locator(".verdict")).to_contain_text("Cancelled")


def test_run_outlives_its_page(open_desk: Desk) -> None:
    """R9: closing the tab loses nothing."""
    desk = served("It is 3.")
    desk.gate.close()
    page, server = open_desk.open(desk)
    start(page)
    where = address(page)
    page.goto("about:blank")
    let_through(desk, server)
    page.goto(where)
    ended(page)
    expect(page.locator(".verdict")).to_contain_text("Completed")
    expect(page.locator(".step")).to_have_count(2)


POSITION = """() => ({
  selected: document.querySelector('[aria-selected="true"][role=treeitem]').id,
  focus: document.activeElement.id,
  steps: document.getElementById("steps").scrollTop,
  pane: document.getElementById("pane").scrollTop,
  same: window.kept === document.getElementById("step-40"),
})"""


def test_selection_scroll_and_focus_stay_after_200_further_events(open_desk: Desk) -> None:
    """R3, must-have 16: an event touches its own row; Follow goes off on the first move."""
    desk = served()
    page, _ = open_desk.open(desk)
    traced = TracedRun(desk.run_trace)
    traced.tools(100, "a line\n" * 100)
    page.locator("#runs-rows a").first.click()
    expect(page.locator(".step")).to_have_count(100)
    expect(page.get_by_label("Follow")).to_be_checked()
    page.locator("#step-40").click()
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(page.get_by_label("Follow")).not_to_be_checked()
    page.get_by_role("tab", name="Span").click()
    page.locator("#pane h3").first.wait_for()
    page.locator("#step-40").focus()
    page.evaluate("""() => {
      document.getElementById("steps").scrollTop = 700;
      const pane = document.getElementById("pane");
      pane.scrollTop = 40;
      window.kept = document.getElementById("step-40");
    }""")
    before = page.evaluate(POSITION)
    traced.tools(100)
    expect(page.locator(".step")).to_have_count(200)
    after = page.evaluate(POSITION)
    assert after == before
    assert after["selected"] == after["focus"] == "step-40"
    traced.end()
    ended(page)
    assert page.evaluate("window.kept === document.getElementById('step-40')")


def test_follow_goes_with_the_newest_step(open_desk: Desk) -> None:
    """Must-have 16: an explicit switch."""
    desk = served()
    page, _ = open_desk.open(desk)
    traced = TracedRun(desk.run_trace)
    traced.tools(3)
    page.locator("#runs-rows a").first.click()
    traced.tools(2)
    expect(page.locator("#step-5")).to_have_attribute("aria-selected", "true")
    page.locator("#step-2").click()
    traced.tools(2)
    expect(page.locator(".step")).to_have_count(7)
    expect(page.locator("#step-2")).to_have_attribute("aria-selected", "true")
    page.get_by_label("Follow").check()
    expect(page.locator("#step-7")).to_have_attribute("aria-selected", "true")
    traced.end()


def cut_off(open_desk: Desk, desk: Served) -> tuple[Page, Server, TracedRun]:
    """Open a run that goes on, and break the stream while more of it happens."""
    open_desk.expected = ("Failed to load resource",)
    page, server = open_desk.open(desk)
    traced = TracedRun(desk.run_trace)
    traced.tools(3)
    page.locator("#runs-rows a").first.click()
    expect(page.locator(".step")).to_have_count(3)
    server.do(server.drop)
    traced.tools(20)
    return page, server, traced


def test_stream_that_was_cut_goes_on_without_loss(open_desk: Desk) -> None:
    """6.5: after a drop by the server the page goes on where it was, without doubles."""
    page, _, traced = cut_off(open_desk, served())
    expect(page.locator(".step")).to_have_count(23)
    traced.end()
    ended(page)


def test_gap_loads_the_run_again(open_desk: Desk) -> None:
    """6.5: what the server no longer has as events is read."""
    desk = served()
    page, server, traced = cut_off(open_desk, desk)
    server.do(desk.app.hub._events.clear)
    expect(page.locator(".step")).to_have_count(23)
    traced.end()
    ended(page)


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        ("completed", "Completed"),
        ("max_rounds", "Truncated"),
        ("budget_cost", "Truncated"),
        ("blocked", "Blocked"),
        ("abandoned", "Abandoned"),
        ("lost", "Lost"),
        ("paused_for_tea", "unknown state paused_for_tea"),
    ],
)
def test_r1_every_outcome_is_drawn_as_what_it_is(open_desk: Desk, outcome: str, word: str) -> None:
    """R1: an unknown state says so, in a neutral colour."""
    page, _ = open_desk.open(served("It is 3."))

    def told(route: Any) -> None:
        answer = route.fetch()
        value = answer.json()
        value["run"]["outcome"] = outcome
        route.fulfill(response=answer, json=value)

    page.route("**/api/runs/*", told)
    page.route(
        "**/api/stream*",
        lambda route: route.fulfill(
            status=200, body=": nothing\n\n", headers={"content-type": "text/event-stream"}
        ),
    )
    fill_prompt(page, "Hi")
    page.get_by_role("button", name="Run", exact=True).click()
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text(word)
    if outcome != "completed":
        expect(verdict).not_to_contain_text("Completed")
        expect(verdict).not_to_have_class("figure verdict ok")


def test_announcements_are_summaries(open_desk: Desk) -> None:
    """9: the status line says the end at once; running clocks are in no live region."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "It is 3."))
    run(page)
    expect(page.locator("#status")).to_have_text("Completed: the model gave its answer")
    assert page.locator("[role=status] run-clock, [aria-live] run-clock").count() == 0

"""What is answered or told late: it changes nothing that is newer."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.playground.browser.pages import Desk
from tests.playground.browser.spans import TracedRun
from tests.playground.served import Served, served

pytestmark = pytest.mark.browser


@pytest.fixture
def two() -> Served:
    """A playground in which the runs `early` and `late` are over."""
    desk = served()
    for name in ("early", "late"):
        traced = TracedRun(desk.run_trace, name)
        traced.tools(2)
        traced.end()
    return desk


def hold(page: Page, url: str) -> Callable[[], None]:
    """Hold the first answer to this back; gives what lets it arrive and be taken."""
    held: list[Route] = []

    def handle(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(url, handle)

    def release() -> None:
        with page.expect_response(held[0].request.url) as answer:
            held[0].continue_()
        answer.value.finished()
        page.evaluate("new Promise((d) => setTimeout(() => requestAnimationFrame(d)))")

    return release


def test_of_two_runs_the_one_that_was_opened_last_is_open(open_desk: Desk, two: Served) -> None:
    page, _ = open_desk.open(two)
    release = hold(page, "**/api/runs/early?*")
    with page.expect_request("**/api/runs/early?*"):
        page.locator("[data-run=early] a").click()
    page.locator("[data-run=late] a").click()
    expect(page.locator("#run-name")).to_have_text("late")
    release()
    expect(page.locator("#run-name")).to_have_text("late")
    expect(page).to_have_url(re.compile("#run/late/"))


def test_run_that_was_closed_before_it_came_stays_closed(open_desk: Desk, two: Served) -> None:
    page, _ = open_desk.open(two)
    page.locator("[data-run=late] a").click()
    expect(page.locator("#run-name")).to_have_text("late")
    release = hold(page, "**/api/runs/early?*")
    with page.expect_request("**/api/runs/early?*"):
        page.locator("[data-run=early] a").click()
    page.keyboard.press("Escape")
    expect(page.locator("#welcome")).to_be_visible()
    release()
    expect(page.locator("#welcome")).to_be_visible()


def test_list_is_that_of_the_newest_filter(open_desk: Desk, two: Served) -> None:
    page, _ = open_desk.open(two)
    page.locator("#runs summary", has_text="Filters").first.click()
    release = hold(page, "**/api/runs?*status=error*")
    outcome = page.locator("#runs-status")
    with page.expect_request("**/api/runs?*status=error*"):
        outcome.select_option("error")
    with page.expect_response("**/api/runs?*status=completed*"):
        outcome.select_option("completed")
    expect(page.locator("#runs-rows tr")).to_have_count(2)
    release()
    expect(page.locator("#runs-rows tr")).to_have_count(2)


def test_run_that_is_over_stays_over(open_desk: Desk, two: Served) -> None:
    """The stream may be behind a run that was read: it then tells what was before."""
    page, _ = open_desk.open(two)
    read: dict[str, Any] = {}

    def remembered(route: Route) -> None:
        answer = route.fetch()
        read.update(answer.json())
        route.fulfill(response=answer)

    def told(route: Route) -> None:
        header = {**read["run"], "outcome": "running"}
        other = {**header, "run_id": "other", "title": "The last that is told"}
        step = {"run_id": header["run_id"], "step": {**read["steps"][1], "state": "open"}}
        events = [("run", header), ("step", step), ("run", other)]
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        route.fulfill(status=200, body=body, headers={"content-type": "text/event-stream"})

    page.route("**/api/runs/*", remembered)
    page.route("**/api/stream?*run%3A*", told)
    page.locator("[data-run=late] a").click()
    expect(page.locator("[data-run=other]")).to_be_visible()
    expect(page.locator(".verdict")).to_contain_text("Completed")
    expect(page.locator("#step-2")).to_contain_text("ok")
    expect(page.locator("#runs-rows .state.ok")).to_have_count(2)

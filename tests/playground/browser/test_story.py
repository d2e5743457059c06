"""The whole way of an admin, in a browser."""

import pytest
from playwright.sync_api import expect

from loopspan.testing import calls
from tests.playground.browser.pages import Desk, run
from tests.playground.served import served

pytestmark = pytest.mark.browser


def test_run_is_started_watched_and_read(open_desk: Desk) -> None:
    """Must-haves 1, 2, 4, 7, 17: the outcome in words, each step, what was new in a round."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "It is 3."))
    assert page.url.endswith("/"), "the code is taken out of the address"
    run(page)
    expect(page.locator(".verdict")).to_contain_text("Completed")
    expect(page.locator("#strip")).to_contain_text("Rounds2 / 5")
    steps = page.get_by_role("treeitem")
    expect(steps).to_have_count(5)
    expect(steps.nth(1)).to_contain_text("wants tools: add")
    steps.nth(3).click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Changes since round 1")
    expect(panel.locator(".message").first).to_contain_text("Tool call add")
    steps.nth(4).click()
    expect(panel).to_contain_text("It is 3.")

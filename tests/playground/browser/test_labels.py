"""What people put on a run: a pin, a title, a note."""

import pytest
from playwright.sync_api import expect

from tests.playground.browser.pages import Desk, run
from tests.playground.served import served

pytestmark = pytest.mark.browser


def test_pin_title_and_note_are_put_on_a_run_and_stay(open_desk: Desk) -> None:
    desk = served("It is 3.")
    page, _ = open_desk.open(desk)
    run(page)
    pin = page.get_by_role("button", name="Pin", exact=True)
    expect(pin).to_have_attribute("aria-pressed", "false")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#runs-rows tr")).to_contain_text("pinned")
    page.get_by_role("button", name="Note").click()
    expect(page.get_by_label("Title", exact=True)).to_have_value("1 + 2?")
    page.get_by_label("Title", exact=True).fill("The sum")
    page.get_by_label("Note", exact=True).fill("Look at <b>round 1</b>")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#run-name")).to_have_text("The sum")
    expect(page.locator("#run-note")).to_have_text("Look at <b>round 1</b>")
    expect(page.locator("#runs-rows a")).to_have_text("The sum")
    page.reload()
    expect(page.locator("#run-note")).to_have_text("Look at <b>round 1</b>")
    expect(pin).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Note").click()
    page.get_by_label("Title", exact=True).fill("")
    page.get_by_label("Note", exact=True).fill("")
    page.keyboard.press("Escape")
    expect(page.locator("#run-name")).to_have_text("The sum")
    page.get_by_role("button", name="Note").click()
    page.get_by_label("Title", exact=True).fill("")
    page.get_by_label("Title", exact=True).press("Enter")
    expect(page.locator("#run-name")).to_have_text("1 + 2?")

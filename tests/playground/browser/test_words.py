"""An answer while it is streamed: its words appear as they come."""

import pytest
from playwright.sync_api import expect

from tests.playground.browser.pages import Desk, ended, fill_prompt
from tests.playground.served import served
from tests.playground.words import Slow

pytestmark = pytest.mark.browser


def test_words_appear_as_they_come_and_a_reload_keeps_them(open_desk: Desk) -> None:
    """6.5: off until it is asked for; appended, so that a selection in them stays."""
    slow = Slow()
    page, server = open_desk.open(served(slow))
    fill_prompt(page, "Hi")
    page.get_by_label("Show words as they come").check()
    page.get_by_role("button", name="Run", exact=True).click()
    row, words = page.locator("#step-2"), page.locator("#words")
    expect(row).to_contain_text("waiting for the answer")
    expect(words).to_be_hidden()
    server.do(lambda: slow.say("Hello, ", "<i>this</i>"))
    expect(words).to_have_text("Hello, <i>this</i>")
    expect(row).to_contain_text("answering")
    page.evaluate("getSelection().selectAllChildren(document.getElementById('words'))")
    server.do(lambda: slow.say(" is it"))
    expect(words).to_have_text("Hello, <i>this</i> is it")
    assert page.evaluate("getSelection().toString()") == "Hello, <i>this</i>"
    page.reload()
    expect(words).to_have_text("Hello, <i>this</i> is it")
    server.do(lambda: slow.say("!", None))
    ended(page)
    expect(row).to_contain_text("answered")
    expect(words).to_have_count(0)
    expect(page.get_by_role("tabpanel")).to_contain_text("Hello, <i>this</i> is it!")

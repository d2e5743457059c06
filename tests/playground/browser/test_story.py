"""The whole way of an admin, in a browser."""

import json
import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from loopspan.testing import calls
from tests.playground.browser.pages import Desk, address, ended, fill_prompt, run
from tests.playground.served import TOKEN, served

pytestmark = pytest.mark.browser

CLIPBOARD = ["clipboard-read", "clipboard-write"]


def test_run_is_started_watched_and_read(open_desk: Desk) -> None:
    """Must-haves 1, 2, 4, 7, 17, N1: the outcome in words, each step, what was new in a round."""
    page, server = open_desk.open(served(calls("add", a=1, b=2), "It is 3."))
    assert address(page) == server.url, "the code is taken out of the address"
    run(page)
    expect(page.locator(".verdict")).to_contain_text("Completed")
    expect(page.locator("#strip")).to_contain_text("Rounds2 / 5")
    steps = page.get_by_role("treeitem")
    expect(steps).to_have_count(5)
    expect(steps.nth(4)).to_have_attribute("aria-selected", "true")
    expect(steps.nth(1)).to_contain_text("wants tools: add")
    steps.nth(3).click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Changes since round 1")
    expect(panel).to_contain_text("3 messages kept, prefix intact")
    expect(panel.locator(".message").first).to_contain_text("Tool call add")
    panel.locator(".kept > summary").click()
    expect(panel.locator(".kept .message")).to_have_count(3)
    steps.nth(4).click()
    expect(panel).to_contain_text("It is 3.")


def test_dry_run_shows_what_would_be_sent(open_desk: Desk) -> None:
    """Must-haves 8, 17, 23, N2: provenance of every piece, and no number that is not known."""
    desk = served()
    page, _ = open_desk.open(desk)
    fill_prompt(page, "1 + 2?")
    page.get_by_role("button", name="Dry run").click()
    ended(page)
    expect(page.locator(".verdict")).to_contain_text("Dry run")
    expect(page.locator("#strip")).to_contain_text("Cost—nothing was sent")
    page.get_by_role("tab", name="Provenance").click()
    panel = page.get_by_role("tabpanel")
    for piece in ("System prompt", "Snippet hours", "Skill sums", "User", "Tool definitions"):
        expect(panel).to_contain_text(piece)
    page.get_by_role("tab", name="Body").click()
    expect(panel).to_contain_text("scripted-1")
    assert desk.model.requests == []


def test_raw_bodies_were_kept(open_desk: Desk) -> None:
    """Must-have 10: the request as it was sent, the response as it came."""
    desk = served("Hello.")
    page, _ = open_desk.open(desk)
    fill_prompt(page, "Hi")
    page.get_by_label("Keep raw bodies").check()
    run(page, "Hi")
    page.locator("#step-1").click()
    page.get_by_role("tab", name="Raw").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Request, as it was sent")
    request = panel.locator(".body").first
    request.get_by_role("button", name="Raw").click()
    expect(request.locator("pre")).to_have_text(desk.model.wire[0].decode())


def test_search_goes_from_place_to_place(open_desk: Desk) -> None:
    """Must-have 13: a hit count, next and previous; the place is in the address."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "The answer is three."))
    run(page, "one and two")
    page.keyboard.press("/")
    page.keyboard.type("answer")
    expect(page.locator("#search-told")).to_have_text("1 place, 1 hit")
    page.keyboard.press("Enter")
    expect(page.locator("#search-told")).to_have_text("1 of 1 place, 1 hit")
    expect(page.locator("#step-5")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel").locator("mark.line")).to_contain_text("The answer")
    expect(page).to_have_url(re.compile("/5/answer/L1$"))
    page.get_by_label("Search in this run").fill("nowhere")
    expect(page.locator("#search-told")).to_have_text("nothing found")


def test_filters_say_how_much_they_hide(open_desk: Desk) -> None:
    """Must-have 14: by kind, tool, errors, time and tokens, with the hidden count."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), calls("fail"), "No."))
    run(page)
    page.locator("#filters-summary").click()
    told = page.locator("#steps-told")
    shown = page.locator(".step:visible")
    page.get_by_label("Kind of step").select_option("tool")
    expect(told).to_have_text("2 of 8 steps, 6 hidden by filters")
    page.locator("#filter-tool").focus()  # it learns the tools of a run that went on
    page.locator("#filter-tool").select_option("fail")
    expect(shown).to_have_count(1)
    page.get_by_role("button", name="Show all steps").click()
    page.get_by_label("Errors and findings only").check()
    expect(shown).to_have_count(1)
    page.get_by_label("Errors and findings only").uncheck()
    page.locator("#filter-slower").fill("900000")
    expect(shown).to_have_count(0)
    expect(page.locator("#steps-empty")).to_have_text("All steps are hidden by the filters.")
    page.locator("#filter-slower").fill("")
    page.locator("#filter-tokens").fill("0")
    expect(told).to_contain_text("hidden by filters")


def _copied(page: Page, what: str) -> str:
    # What was said of the last copy is still there.
    page.locator("#status").evaluate("(status) => { status.textContent = ''; }")
    page.get_by_role("button", name="Copy").click()
    page.locator(f"[data-copy={what}]").click()
    page.locator("#status", has_text="Copied").wait_for()
    if page.locator("#copy-dialog").is_visible():
        page.keyboard.press("Escape")
    text: str = page.evaluate("navigator.clipboard.readText()")
    page.evaluate("navigator.clipboard.writeText('')")
    return text


def test_copy_gives_text_json_markdown_curl_httpx(open_desk: Desk) -> None:
    """Must-have 20, N6, PG-02: the bytes of the server; a key is only named."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "3"), permissions=CLIPBOARD)
    run(page)
    page.locator("#step-3").click()
    assert _copied(page, "text") == "3"
    told = json.loads(_copied(page, "json"))
    assert (told["kind"], told["arguments"]) == ("tool", {"a": 1, "b": 2})
    assert '```\n{"a":1,"b":2}\n```' in _copied(page, "markdown")
    page.locator("#step-1").click()
    assert "$OPENAI_API_KEY" in _copied(page, "curl")
    assert "import httpx" in _copied(page, "httpx")
    assert "/1/delta" in _copied(page, "link")
    assert "Round 1" in _copied(page, "run-markdown")


def test_exported_file_opens_again(open_desk: Desk, tmp_path: Path) -> None:
    """Must-have 21, N7: the same steps and numbers from memory and from a file."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "It is 3."))
    run(page)
    before = page.locator(".step .what").all_inner_texts()
    page.locator("#step-1").click()
    link = address(page)
    for form in ("run", "ndjson", "md", "html", "otlp-json"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.locator(f"[data-export={form}]").click()
        download.value.save_as(tmp_path / form)
        page.keyboard.press("Escape")
    assert "<script" not in (tmp_path / "html").read_text()
    page.locator("#open-file").set_input_files(tmp_path / "otlp-json")
    expect(page.locator("#badges")).to_contain_text("from a file")
    expect(page.locator(".step")).to_have_count(5)
    assert page.locator(".step .what").all_inner_texts() == before
    expect(page).to_have_url(link)
    page.get_by_role("button", name="Dismiss").click()


def test_permalink_survives_a_reload(open_desk: Desk) -> None:
    """Must-have 15, R9: run, step and tab are in the address, and a reload shows the same."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "It is 3."))
    run(page)
    page.locator("#step-4").click()
    page.get_by_role("tab", name="Parameters").click()
    expect(page).to_have_url(re.compile("/4/parameters$"))
    page.reload()
    expect(page.locator("#step-4")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tab", name="Parameters")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".step")).to_have_count(5)
    page.go_back()
    expect(page.locator("#welcome")).to_be_visible()


def test_code_that_was_used_asks_for_the_token(open_desk: Desk) -> None:
    open_desk.expected = ("Failed to load resource",)
    server = open_desk.serve(served().app)
    page = open_desk.page(server.url, "#login=used-before")
    expect(page.locator("#gate-told")).to_contain_text("wrong or was used before")
    page.get_by_role("textbox", name="Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#app")).to_be_visible()


def test_pg_05_each_press_leaves_a_run_with_an_error_step(open_desk: Desk) -> None:
    """PG-05, must-have 11, R2: the error is a step; a reload shows the same."""
    open_desk.expected = ("Failed to load resource",)
    desk = served(httpx.Response(400, json={"error": {"message": "no such model"}}))
    page, _ = open_desk.open(desk)
    fill_prompt(page, "Hi")
    page.locator("summary", has_text="Limits and parameters").click()
    page.get_by_label("Rounds").evaluate("(e) => { e.removeAttribute('min'); e.value = '0'; }")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#form-error")).to_contain_text("max_rounds is 0")
    expect(page.locator(".step")).to_have_count(1)
    expect(page.locator("#pane")).to_contain_text("ConfigurationError")
    page.locator("#launch-box > summary").click()
    page.get_by_label("Rounds").fill("3")
    run(page, "Hi")
    expect(page.locator(".verdict")).to_contain_text("Error")
    expect(page.locator(".step")).to_have_count(2)
    page.reload()
    expect(page.locator("#step-2")).to_contain_text("400")
    expect(page.locator("#step-2")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#pane")).to_contain_text("is the HTTP status of the answer")

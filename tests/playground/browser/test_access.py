"""Keyboard, roles, contrast, small windows."""

import re
from importlib.resources import files
from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from loopspan.testing import calls
from tests.playground.browser.pages import Desk, each_tab, look_at, run
from tests.playground.served import served

pytestmark = pytest.mark.browser


def check(page: Page, inside: str | None = None) -> None:
    """Find no violation of WCAG 2.2 AA on what is shown."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    options = {"runOnly": {"type": "tag", "values": tags}}
    found = Axe().run(page, context=inside, options=options).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible(open_desk: Desk, scheme: str) -> None:
    """R4, R5, must-haves 26, 27: roles, names and contrast of each view, light and dark."""
    desk = served(calls("add", a=1, b=2), calls("fail"), "It is **3**.")
    page, _ = open_desk.open(desk, color_scheme=scheme)
    check(page)
    run(page)
    check(page)
    for step in (1, 2, 3) if scheme == "light" else (2,):
        look_at(page, step)
        for _ in each_tab(page):
            check(page, "#detail")
    page.keyboard.press("Escape")
    page.locator("#copy").click()
    check(page)
    page.keyboard.press("Escape")
    page.locator("#help").click()
    check(page)


def test_whole_story_by_keyboard(open_desk: Desk) -> None:
    """R4, must-have 12: start, watch, open the error, search, copy, back, with keys only."""
    page, _ = open_desk.open(served(calls("add", a=1, b=2), calls("fail"), "It is 3."))
    page.locator("#prompt").focus()
    page.keyboard.type("jj?")
    assert page.locator("#prompt").input_value() == "jj?", "no shortcut fires in a text field"
    page.keyboard.press("Control+Enter")
    page.locator("#run .verdict.ok").wait_for()
    page.locator("#run-button").focus()
    selected = page.locator('[role=treeitem][aria-selected="true"]')
    page.keyboard.press("Home")
    expect(selected).to_have_attribute("id", "step-1")
    expect(selected).to_be_focused()
    for key, n in [
        ("j", 2),
        ("ArrowDown", 3),
        ("k", 2),
        ("]", 4),
        ("[", 1),
        ("End", 8),
        ("PageUp", 1),
        ("n", 6),
    ]:
        page.keyboard.press(key)
        expect(selected).to_have_attribute("id", f"step-{n}")
    page.keyboard.press("2")
    expect(page.get_by_role("tab", selected=True)).to_have_text("Result")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tabpanel")).to_be_focused()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) != "none"
    page.keyboard.press("Escape")
    expect(selected).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search in this run")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("#copy-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_label("Follow")).not_to_be_checked()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.get_by_label("Single keys are shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.locator("#export").focus()
    page.keyboard.press("r")
    expect(page.locator("#export")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#welcome")).to_be_visible()
    expect(page.locator("#runs-rows a").first).to_be_focused()


def test_names_of_rows_carry_the_state(open_desk: Desk) -> None:
    """9: what a row is can be heard; colour is never the only sign (R5)."""
    page, _ = open_desk.open(served(calls("fail"), "No."))
    run(page)
    row = page.locator("#step-3")
    label = row.get_attribute("aria-label") or ""
    assert label.startswith("Round 1, tool fail, error, ")
    expect(row).to_have_attribute("aria-level", "1")
    expect(row).to_have_attribute("aria-posinset", "3")
    expect(row).to_have_attribute("aria-setsize", "5")


@pytest.mark.parametrize("height", [256, 640])
def test_320_pixels_need_no_sideways_scrolling(open_desk: Desk, height: int) -> None:
    """Must-have 26: 400 % zoom, one column, the runs in a drawer; targets of 24 pixels."""
    small = {"width": 320, "height": height}
    page, _ = open_desk.open(served(calls("add", a=1, b=2), "It is 3."), viewport=small)
    run(page)
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == 320
    for _ in each_tab(page):
        assert page.evaluate(width) == 320
    page.get_by_role("button", name="Show runs").click()
    expect(page.locator("#runs-rows a").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("#runs")).to_be_hidden()
    small_targets = page.evaluate("""() =>
      [...document.querySelectorAll("button, select, summary, .step")]
      .filter((e) => e.checkVisibility() && !e.closest("label"))
      .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
      .filter(([, box]) => box.height > 0 && box.height < 23.9).map(([html]) => html)""")
    assert small_targets == []


def test_theme_is_a_switch_of_three(open_desk: Desk) -> None:
    """Must-have 27: the system's theme, light, dark; no island stays light."""
    page, _ = open_desk.open(served("Hi"), color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(22, 24, 27)"
    page.locator("#theme").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.locator("#theme").click()
    page.reload()
    page.locator("#app").wait_for()
    assert page.evaluate(colour) == "rgb(22, 24, 27)"


def test_reduced_motion_and_forced_colours(open_desk: Desk) -> None:
    """Must-have 26: no pulse; the selected row has more than a background."""
    page, _ = open_desk.open(served("Hi"), reduced_motion="reduce", forced_colors="active")
    run(page)
    style = "getComputedStyle(document.querySelector('.step[aria-selected=\"true\"]')).outlineStyle"
    assert page.evaluate(style) == "solid"


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: str, b: str) -> float:
    light, dark = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXTS = ["text", "muted", "link", "ok", "warning", "error", "running", "thinking", "result"]
BACKGROUNDS = ["background", "surface", "selected"]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_r5_contrast_of_the_tokens(theme: int) -> None:
    """R5: text at least 4.5 to 1, borders of controls 3 to 1, on every background."""
    css = (files("loopspan.playground") / "static" / "tokens.css").read_text()
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", css)
    tokens = {name: both[theme] for name, *both in pairs}
    for name, on in product(TEXTS, BACKGROUNDS):
        assert _contrast(tokens[name], tokens[on]) >= 4.5, (name, on)
    for on in BACKGROUNDS:
        assert _contrast(tokens["control"], tokens[on]) >= 3, on
    assert _contrast(tokens["on-link"], tokens["link"]) >= 4.5

"""Long runs and large bodies: rows are light, bodies come when they are opened."""

from importlib.resources import files

import pytest
from playwright.sync_api import Page, expect

from loopspan import RunTrace
from tests.playground.browser.pages import Desk, ended
from tests.playground.browser.spans import TracedRun
from tests.playground.served import served

pytestmark = pytest.mark.browser

COUNT = """() => {
  const counted = window.counted = { made: 0, gone: 0, drawn: 0 };
  const steps = document.getElementById("steps");
  new MutationObserver((records) => {
    for (const { target, addedNodes, removedNodes } of records) {
      if (target === steps) {
        counted.made += addedNodes.length;
        counted.gone += removedNodes.length;
      } else if (target.parentNode === steps) counted.drawn += 1;
    }
  }).observe(steps, { childList: true, subtree: true });
}"""
"""Counts the rows that are made, those that are taken away, and how often one is drawn."""


def room() -> RunTrace:
    """Return a memory for runs that has room for the largest one."""
    return RunTrace(max_bytes=2_000_000_000)


def check_rows(page: Page, count: int) -> None:
    """Check that each row was made once, and drawn for its own events alone."""
    counted = page.evaluate("window.counted")
    assert (counted["made"], counted["gone"]) == (count, 0)
    assert counted["drawn"] <= 5 * count


def test_500_steps_of_a_megabyte_live(open_desk: Desk) -> None:
    """R3, must-have 28: appended as they come; ten bodies opened keep the heap small."""
    desk = served(run_trace=room())
    page, _ = open_desk.open(desk)
    traced = TracedRun(desk.run_trace)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    traced.tools(1)
    page.locator("#runs-rows a").first.click()
    expect(page.locator(".step")).to_have_count(1)
    page.get_by_label("Follow").uncheck()
    page.get_by_role("tab", name="Span").click()  # has no body, which would be asked for
    expect(page.get_by_role("tab", name="Span")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#connection")).to_have_text("live")
    page.evaluate(COUNT)
    asked.clear()
    traced.tools(499, "a line of a megabyte\n" * 50_000)
    expect(page.locator(".step")).to_have_count(500, timeout=60_000)
    assert asked == [], "no body and no run is loaded for a row"
    traced.end()
    ended(page)
    check_rows(page, 499)
    for n in range(2, 12):
        page.locator(f"#step-{n}").click()
        page.get_by_role("tab", name="Result").click()
        expect(page.get_by_role("tabpanel")).to_contain_text("Show more (984 KB hidden)")
    check_rows(page, 499)
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")
    assert heap["usedSize"] < 150_000_000


def test_pg_01_6700_steps_and_100_megabytes(open_desk: Desk) -> None:
    """PG-01: the list stays usable, and bodies are loaded only when they are opened."""
    desk = served(run_trace=room())
    traced = TracedRun(desk.run_trace)
    traced.tools(6_700, "x" * 15_000)
    traced.end()
    page, _ = open_desk.open(desk, "&run=traced")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator(".step")).to_have_count(6_700, timeout=60_000)
    assert [url for url in asked if "/blobs/" in url] == []
    page.locator("#run-button").focus()
    page.keyboard.press("End")
    expect(page.locator("#step-6700")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("#step-6699")).to_be_focused()
    page.locator("#filters-summary").click()
    page.get_by_label("Kind of step").select_option("request")
    expect(page.locator("#steps-told")).to_contain_text("6,700 hidden by filters")


def test_weight_of_the_page() -> None:
    """8: at most 200 KB in 25 files, no file has more than 250 lines; no markup is assigned."""
    folder = files("loopspan.playground") / "static"
    found = {each.name: each.read_text() for each in folder.iterdir()}
    assert len(found) <= 25
    assert sum(len(text.encode()) for text in found.values()) <= 200_000
    scripts = {name: text for name, text in found.items() if name.endswith(".js")}
    styles = {name: text for name, text in found.items() if name.endswith(".css")}
    for name, text in {**scripts, **styles}.items():
        assert len(text.splitlines()) <= 250, name
    assert sum(map(_lines, scripts.values())) <= 3_000
    assert sum(map(_lines, styles.values())) <= 600
    for text in scripts.values():
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval("):
            assert word not in text


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())

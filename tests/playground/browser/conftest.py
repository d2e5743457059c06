"""Chromium, and a page in it that fails the test for any error of script, CSP or network."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.playground.browser.pages import Desk, desk
from tests.requirements import require_or_skip

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser of a file of tests.

    Playwright keeps an event loop running in this thread meanwhile, in which no other test could
    run one of its own.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        require_or_skip("browser", "there is no Chromium; install Debian's package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_desk(chromium: Browser) -> Iterator[Desk]:
    """Opens playgrounds; at the end nothing may have been broken on any page."""
    with desk(chromium) as opened:
        yield opened

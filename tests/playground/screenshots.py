"""Makes the screenshots of docs/ from real runs: `python -m tests.playground.screenshots`.

It serves the example catalogue with the embedded model, and drives Debian's Chromium.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize, sync_playwright

from loopspan import RunTrace
from loopspan.catalogue import Catalogue
from loopspan.playground import TokenAuth, administrator, make_asgi_app
from tests.playground.browser.conftest import FLAGS
from tests.playground.browser.pages import ended, fill_prompt, serving
from tests.playground.served import TOKEN

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "images"
WINDOW: ViewportSize = {"width": 1280, "height": 780}
MOST = 150_000
"""The most bytes of a picture."""


def run_shop(page: Page, button: str = "Run") -> None:
    """Run the example configuration."""
    if not page.locator("#prompt").is_visible():
        page.locator("#launch-box > summary").click()
    page.locator("#configuration").select_option("shop")
    fill_prompt(page, "Where is order 1002, and can I send it back?")
    page.get_by_role("button", name=button, exact=True).click()
    ended(page)


def delta(page: Page) -> None:
    """A finished run: what was new in the second round."""
    run_shop(page)
    page.locator("#step-4").click()
    page.locator("#pane .json").last.wait_for()


def provenance(page: Page) -> None:
    """A dry run: where each piece of the prompt comes from."""
    run_shop(page, "Dry run")
    page.get_by_role("tab", name="Provenance").click()
    page.locator("#pane table").last.wait_for()


PICTURES: dict[str, tuple[Callable[[Page], None], Literal["light", "dark"]]] = {
    "playground": (delta, "light"),
    "playground-dark": (delta, "dark"),
    "playground-dry-run": (provenance, "light"),
}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    catalogue = Catalogue.load(ROOT / "examples" / "catalogue" / "loopspan.toml")
    for name, (show, scheme) in PICTURES.items():
        auth = TokenAuth(TOKEN, administrator())
        app = make_asgi_app(catalogue, RunTrace(), auth=auth)
        with serving(app) as server, sync_playwright() as playwright:
            chromium = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport=WINDOW, color_scheme=scheme)
            page.goto(f"{server.url}#login={TOKEN}")
            page.locator("#app").wait_for()
            show(page)
            page.locator("#status").evaluate("(status) => { status.hidden = true; }")
            page.mouse.move(0, 0)
            path = FOLDER / f"{name}.png"
            page.screenshot(path=path)
            assert path.stat().st_size <= MOST, f"{path} has {path.stat().st_size} bytes"
            browser.close()


if __name__ == "__main__":
    main()

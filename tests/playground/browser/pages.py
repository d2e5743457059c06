"""A playground served to a browser: in a thread of its own, on loopback, with a scripted model."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from starlette.types import ASGIApp

from tests.playground.served import TOKEN, Served

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""
PATIENCE = 60
"""How many seconds a slow machine may take for anything."""
expect.set_options(timeout=PATIENCE * 1000)

WIDE = {"width": 1280, "height": 900}


@dataclass
class Server:
    """A server in a thread; `do` runs something in its loop."""

    url: str
    loop: asyncio.AbstractEventLoop
    uvicorn: uvicorn.Server

    def do(self, work: Callable[[], Any]) -> None:
        """Do something in the loop of the server, and wait until it is done."""
        done = threading.Event()
        failed: list[BaseException] = []

        def act() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001  # told where the test waits
                failed.append(error)
            done.set()

        self.loop.call_soon_threadsafe(act)
        assert done.wait(PATIENCE)
        if failed:
            raise failed[0]

    def drop(self) -> None:
        """Break all connections."""
        for connection in list(self.uvicorn.server_state.connections):
            transport: asyncio.Transport = connection.transport
            transport.abort()


@contextmanager
def serving(app: ASGIApp) -> Iterator[Server]:
    """Serve an app until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    begun: list[asyncio.AbstractEventLoop] = []
    ready = threading.Event()

    async def serve() -> None:
        begun.append(asyncio.get_running_loop())
        ready.set()
        await server.serve([listening])

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield Server(f"http://127.0.0.1:{listening.getsockname()[1]}/", begun[0], server)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
        assert not thread.is_alive()


@dataclass
class Desk:
    """Opens pages, and remembers what broke on them."""

    browser: Browser
    stack: ExitStack
    broken: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Beginnings of lines of the console that belong to the test."""

    def serve(self, app: ASGIApp) -> Server:
        """Serve an app until the test ends."""
        return self.stack.enter_context(serving(app))

    def page(self, url: str, where: str = f"#login={TOKEN}", **context: Any) -> Page:
        """Open a page of a server, logged in."""
        opened = self.browser.new_context(base_url=url, **{"viewport": WIDE, **context})
        opened.set_default_timeout(PATIENCE * 1000)
        self.stack.callback(opened.close)
        page = opened.new_page()
        self.stack.callback(_unroute, page)
        page.on("pageerror", lambda error: self.broken.append(str(error)))
        page.on("console", self._said)
        page.on("request", lambda asked: self._asked(asked.url, url))
        page.add_init_script(WATCH)
        page.goto(url + where)
        self.pages.append(page)
        return page

    def open(self, served: Served, where: str = "", **context: Any) -> tuple[Page, Server]:
        """Serve a playground and open its page; `where` is added to the login."""
        server = self.serve(served.app)
        page = self.page(server.url, f"#login={TOKEN}{where}", **context)
        page.locator("#app").wait_for()
        return page, server

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(self.expected or ("\0",)):
            self.broken.append(message.text)

    def _asked(self, address: str, own: str) -> None:
        if not address.startswith((own, "data:", "blob:")):
            self.broken.append(f"asked {address}")

    def check(self) -> None:
        """Fail for script errors, violations of the policy, and requests to elsewhere."""
        for page in self.pages:
            if not page.is_closed():
                self.broken += page.evaluate("window.violations || []")
        assert self.broken == []


def _unroute(page: Page) -> None:
    """Change no more answers: one may be on its way when the page is closed."""
    if not page.is_closed():
        page.unroute_all(behavior="ignoreErrors")


@contextmanager
def desk(browser: Browser) -> Iterator[Desk]:
    """Give a desk, and check its pages at the end."""
    with ExitStack() as stack:
        opened = Desk(browser, stack)
        yield opened
        opened.check()


def run(page: Page, prompt: str = "1 + 2?") -> None:
    """Start a run with the form and wait until its end is on the page."""
    fill_prompt(page, prompt)
    page.get_by_role("button", name="Run", exact=True).click()
    ended(page)


def fill_prompt(page: Page, prompt: str) -> None:
    """Open the form where it is folded, and write the prompt."""
    if not page.locator("#prompt").is_visible():
        page.locator("#launch-box > summary").click()
    page.get_by_label("Prompt", exact=True).fill(prompt)


def address(page: Page) -> str:
    """Return the address as the page has it; Playwright hears of a change a little later."""
    return str(page.evaluate("location.href"))


def look_at(page: Page, n: int) -> None:
    """Select a step, and wait until what belongs to it is shown: that is a frame later."""
    row = page.locator(f"#step-{n}")
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")


def each_tab(page: Page) -> Iterator[None]:
    """Open each tab of the step that is shown, one after the other."""
    for tab in page.get_by_role("tab").all():
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        page.locator("#pane > *").first.wait_for()
        yield


def ended(page: Page) -> None:
    """Wait until the open run is over."""
    page.locator("#run .verdict:not(.running)").wait_for()

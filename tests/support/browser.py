"""A real Chromium that looks at the page of a real service.

`LM_BROWSER_SLOWER=6` makes the browser six times as slow, which shows what is fast by luck.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from support.service import ServiceProcess

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAGES = ("review", "memories", "time", "assistants", "models", "activity", "settings", "keeping", "welcome")


@dataclass(kw_only=True)
class Window:
    """A page that was let in, and everything it complained of or asked for."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list[str])
    foreign: list[str] = field(default_factory=list[str])

    def go(self, name: str) -> None:
        """Go to one of the pages, as a click in the sidebar does."""
        self.page.evaluate("name => { location.hash = `#/${name}` }", name)
        self.page.locator(f"main[data-page={name}] h1").first.wait_for()

    def sideways(self) -> list[str]:
        """Elements that stick out of the screen at the side."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll('body *')].filter((one) => {
                const box = one.getBoundingClientRect();
                return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1) && !one.closest('.hidden, .skip, pre, .bar, svg');
            }).map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`)"""
        )
        wide: bool = self.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        return [*found, *(["the whole page"] if wide else [])]

    def violations(self) -> list[str]:
        """What axe-core objects to."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: list[str] = self.page.evaluate(
            """async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})).violations
                .map((one) => `${one.id}: ${one.help} (${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')})`)"""
        )
        return found


def chromium() -> str:
    """The browser of this machine; the test is left out where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


@contextlib.contextmanager
def running_browser() -> Generator[Browser]:
    """A browser, until the block ends."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def entered(browser: Browser, service: ServiceProcess, **options: object) -> Generator[Window]:
    """A window that was let in by a fresh code; nothing may have gone wrong in it, and nothing may have been asked of anybody else."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, "locale": "en-GB", **options})  # pyright: ignore
    try:
        window = opened(context, service)
        yield window
        assert not window.complaints, window.complaints
        assert not window.foreign, window.foreign
    finally:
        context.close()


def opened(context: BrowserContext, service: ServiceProcess) -> Window:
    """Another page of a browser, let in by a fresh code."""
    page = context.new_page()
    page.set_default_timeout(30_000)
    if slower := os.environ.get("LM_BROWSER_SLOWER"):
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": int(slower)})
    address = service.live.address
    window = Window(page=page, address=address)
    page.on("pageerror", lambda error: window.complaints.append(str(error)))
    page.on("console", lambda message: _note(window, message))
    page.on("request", lambda request: _follow(window, request))
    page.goto(f"{address}/#code={service.client().window_code().code}")
    page.locator(".app").wait_for()
    return window


def _note(window: Window, message: ConsoleMessage) -> None:
    # A browser says so of every request that is refused or broken off; the page tells it in its own words.
    if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
        window.complaints.append(message.text)


def _follow(window: Window, request: Request) -> None:
    if not request.url.startswith((window.address, "data:", "blob:")):
        window.foreign.append(request.url)

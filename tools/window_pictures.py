"""Takes the README's pictures of the window: a made-up memory, a real service, real maintenance, and Chromium.

usage: python tools/window_pictures.py [FOLDER]     (playwright in the environment, Chromium on the PATH; FOLDER is `pictures`)
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from playwright.sync_api import Page, Route, sync_playwright

from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.schemas.maintenance import MaintainRequest

DAY = 86_400_000
SIZE = {"width": 1180, "height": 760}
INSTALLED = (".cursor", ".codex", ".gemini")
"""Folders by which assistants are known to be there."""
STORY = (
    (400, "I live in Porto."),
    (390, "I work at Globex as a designer."),
    (380, "My dog is called Biscuit."),
    (300, "Clara works at Initrode."),
    (290, "Clara likes hiking in the mountains."),
    (200, "Clara loves hiking in mountains."),
    (190, "Clara's birthday is on 3 May."),
    (180, "I don't eat shellfish."),
    (150, "I bought a red bicycle."),
    (149, "I bought a red bike."),
    (100, "I like green tea."),
    (90, "I love green tea."),
    (60, "Otto's phone is a Fairphone."),
    (40, "I moved to Lisbon."),
    (30, "Clara now works at Hooli."),
    (3, "Otto speaks Portuguese."),
)


def main(folder: Path) -> None:
    """Write a picture of every page into `folder`."""
    folder.mkdir(exist_ok=True)
    with service() as client, sync_playwright() as playwright:
        tell(client)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, locale="en-GB")
        page.goto(f"{client.live.address}/#code={client.window_code().code}")
        page.get_by_role("button", name="I moved to Lisbon.").click()
        page.locator(".chain").wait_for()
        take(page, folder / "memories.png")
        page.goto(f"{client.live.address}/#/review")
        page.locator(".card.chosen .evidence").wait_for()
        take(page, folder / "review.png")
        page.goto(f"{client.live.address}/#/assistants")
        page.get_by_role("button", name="Connect Cursor").click()
        page.get_by_role("switch", name="Cursor may use the memory").wait_for()
        work(client)
        page.locator(".assistant").filter(has_text="read").first.wait_for()
        take(page, folder / "assistants.png")
        page.route("**/api/v1/status", at_home)
        for name, there in (("time", ".then-now"), ("models", ".item"), ("activity", ".feed"), ("settings", "code"), ("welcome", ".pill")):
            page.goto(f"{client.live.address}/#/{name}")
            page.locator(f"main[data-page={name}] {there}").first.wait_for()
            take(page, folder / f"{name}.png")
        browser.close()


@contextlib.contextmanager
def service() -> Generator[MaintenanceClient]:
    """A service of an empty memory in a home where some assistants are installed, until the block ends."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        for name in INSTALLED:
            (Path(home) / name).mkdir()
        command = [sys.executable, "-m", "lean_memory_bridge", "--root", folder, "--announce"]
        environ = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": ""}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environ)
        try:
            assert process.stdout is not None
            process.stdout.readline()
            found = MaintenanceClient.find(Path(folder), timeout=10)
            assert found is not None
            yield found
        finally:
            process.terminate()
            process.communicate(timeout=30)


def tell(client: MaintenanceClient) -> None:
    """The story, and one run of maintenance over it."""
    now = time.time_ns() // 1_000_000
    for days, text in STORY:
        client.add(text, t_ref=now - days * DAY)
    client.run_maintenance(MaintainRequest(apply=True, force=True))


def work(client: MaintenanceClient) -> None:
    """What an assistant does on a day."""
    cursor = client.speaking_for("cursor")
    for question in ("Where do I live?", "What does Clara like?", "When is Clara's birthday?"):
        cursor.search(question)
    cursor.add("My editor is set to dark colours.")


def at_home(route: Route) -> None:
    """The data folder of a picture is the usual one."""
    told = route.fetch()
    route.fulfill(response=told, body=json.dumps({**told.json(), "root": "~/.lean_memory"}))


def take(page: Page, file: Path) -> None:
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    page.screenshot(path=file)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "pictures")

"""Takes the README's pictures: a made-up memory, the real tray with its service and schedule on a screen that nobody sees, and Chromium.

All are of one state of one memory, but for the first steps, which are of the same memory before anything was told. The tray's menu is left
out where there is no desktop to be put together (`tests/desktop_session/desk.py` names the packages).

usage: PYTHONPATH=tests python tools/window_pictures.py [FOLDER] [light|dark]     (playwright in the environment, Chromium on the PATH; FOLDER is `pictures`)
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
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Literal, cast

from PIL import Image, ImageChops
from playwright.sync_api import Page, Route, ViewportSize, sync_playwright

from desktop_session.desk import Desktop, desktop, eventually, missing
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.schemas.maintenance import MaintainRequest

DAY = 86_400_000
PATIENCE = 300.0
"""Seconds; a busy machine takes its time."""
SIZE: ViewportSize = {"width": 1180, "height": 760}
TELEPHONE: ViewportSize = {"width": 390, "height": 760}
AMBER = (181, 84, 0)
"""The colour of the icon's badge."""
MENU = (0, 0, 420, 520)
"""Where on the screen the menu opens."""
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


def main(folder: Path, colours: Literal["light", "dark"]) -> None:
    """Write a picture of every page and of the tray's menu into `folder`."""
    folder.mkdir(exist_ok=True)
    with service() as (client, desk), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, locale="en-GB", color_scheme=colours)
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"{client.live.address}/#code={client.window_code().code}")
        take_page(page, client, folder, "welcome", ".pill")
        tell(client)
        page.goto(f"{client.live.address}/#/memories")
        page.get_by_role("button", name="I moved to Lisbon.").click()
        page.locator(".chain").wait_for()
        take(page, folder / "memories.png")
        take_page(page, client, folder, "review", ".card.chosen .evidence")
        page.goto(f"{client.live.address}/#/assistants")
        page.get_by_role("button", name="Connect Cursor").click()
        page.get_by_role("switch", name="Cursor may use the memory").wait_for()
        work(client)
        page.locator(".assistant").filter(has_text="read").first.wait_for()
        take(page, folder / "assistants.png")
        page.route("**/api/v1/status", at_home)
        for name, there in (("time", ".then-now"), ("models", ".item"), ("activity", ".feed"), ("settings", "code")):
            take_page(page, client, folder, name, there)
        take_otherwise(page, client, folder)
        if desk is not None:
            take_menu(desk, folder / "tray.png")
        take_decided(page, client, folder)
        browser.close()


@contextlib.contextmanager
def service() -> Generator[tuple[MaintenanceClient, Desktop | None]]:
    """A service of an empty memory in a home where some assistants are installed, until the block ends; under a tray where there can be one."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        for name in INSTALLED:
            (Path(home) / name).mkdir()
        environ = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": "", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        desk = None if missing() else stack.enter_context(desktop(Path(home), environ))
        command = [sys.executable, "-P", "-m", "lean_memory_desktop", *(["serve"] if desk is None else []), "--root", folder]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, env=environ if desk is None else cast("Mapping[str, str]", desk.environ)
        )
        try:
            eventually(lambda: MaintenanceClient.find(Path(folder)), patience=PATIENCE)
            found = MaintenanceClient.find(Path(folder), timeout=10)
            assert found is not None
            eventually(lambda: found.schedule().next_at, patience=PATIENCE)
            yield found, desk
        finally:
            process.terminate()
            process.wait(60)


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


def take_page(page: Page, client: MaintenanceClient, folder: Path, name: str, there: str, *, called: str = "") -> None:
    """Go to a page and take it once it shows what it is there for."""
    page.goto(f"{client.live.address}/#/{name}")
    page.locator(f"main[data-page={name}] {there}").first.wait_for()
    take(page, folder / f"{called or name}.png")


def take_otherwise(page: Page, client: MaintenanceClient, folder: Path) -> None:
    """The question before forgetting, a page on a telephone, and one in the other colours."""
    page.goto(f"{client.live.address}/#/memories")
    page.get_by_role("button", name="Forget this…").click()
    page.locator("dialog .erased").wait_for()
    take(page, folder / "forget.png")
    page.keyboard.press("Escape")
    page.set_viewport_size(TELEPHONE)
    take_page(page, client, folder, "review", ".card.chosen .evidence", called="small")
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="dark")
    take_page(page, client, folder, "memories", ".chain", called="dark")


def take_decided(page: Page, client: MaintenanceClient, folder: Path) -> None:
    """What was decided, the first proposal among it."""
    page.emulate_media(color_scheme="light")
    page.goto(f"{client.live.address}/#/review")
    page.locator(".card.chosen .evidence").wait_for()
    page.keyboard.press("a")
    page.get_by_text("Accepted.").wait_for()
    page.get_by_role("button", name="Decided").click()
    page.locator("main .item").first.wait_for()
    take(page, folder / "decided.png")


def take_menu(desk: Desktop, file: Path) -> None:
    """The icon with its badge, its menu open, and in it the assistants."""
    eventually(lambda: place_of_the_badge(desk), patience=PATIENCE)
    badge = place_of_the_badge(desk)
    assert badge is not None
    desk.click(*badge)
    eventually(lambda: desk.ask("xdotool", "search", "--onlyvisible", "--class", "lean|main|python"))
    desk.ask("xdotool", "key", "--delay", "200", "Down", "Down", "Down", "Right")
    time.sleep(1)
    with Image.open(desk.picture("menu")) as screen:
        shown = screen.convert("RGB").crop(MENU)
    below = ImageChops.difference(shown, Image.new("RGB", shown.size)).crop((0, 40, *MENU[2:])).getbbox()
    assert below is not None
    shown.crop((0, 0, below[2], 40 + below[3])).quantize(64).save(file, optimize=True)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


def place_of_the_badge(desk: Desktop) -> tuple[int, int] | None:
    """The middle of the badge in the panel."""
    with Image.open(desk.picture("panel")) as screen:
        panel = screen.convert("RGB").crop((0, 0, 1280, 40))
    off = ImageChops.difference(panel, Image.new("RGB", panel.size, AMBER)).convert("L").point(lambda far: 255 if far < 30 else 0)
    found = off.getbbox()
    return None if found is None else ((found[0] + found[2]) // 2, (found[1] + found[3]) // 2)


def take(page: Page, file: Path) -> None:
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    page.screenshot(path=file)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0]) if given else Path(__file__).parents[1] / "pictures", "dark" if given[1:] == ["dark"] else "light")

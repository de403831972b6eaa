"""Assistants, models and settings: everything that a person steers, clicked in a real browser with a home folder and a model hub of the test's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import lean_memory
import lean_memory_bridge
import lean_memory_desktop
import lean_memory_webui
from lean_memory.models.packages import remedy
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.schemas.maintenance import ScheduleView
from support.browser import Window, entered
from support.fake_hub import FakeHub, serving
from support.model_manifest import tiny_repositories, write_manifest
from support.service import ServiceProcess, running_service
from support.supervised import eventually

LENGTH = 1_000_000
SLOW = 50_000
"""Bytes a second: a download lasts as long as any test needs to stop it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    home: Path
    hub: FakeHub
    service: ServiceProcess


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("steering")
    home = folder / "home"
    (home / ".cursor").mkdir(parents=True)
    with serving(tiny_repositories(LENGTH)) as hub:
        manifest = write_manifest(folder / "models.toml", hub.repositories)
        packages = [
            str(Path(one.__file__ or "").parents[1]) for one in (lean_memory, lean_memory_bridge, lean_memory_webui, lean_memory_desktop)
        ]
        environ = {"HOME": str(home), "USERPROFILE": str(home), "XDG_CONFIG_HOME": "", "PYTHONPATH": os.pathsep.join(packages)}
        models = {"LM_MODELS_ENDPOINT": hub.endpoint, "LM_MODELS_MANIFEST": str(manifest)}
        with running_service(folder, environ={**environ, **models}) as running:
            running.client().add("I live in Porto.")
            yield Place(home=home, hub=hub, service=running)


@pytest.fixture(scope="module")
def service(place: Place) -> ServiceProcess:
    return place.service


def row(page: Page, name: str) -> Locator:
    """An entry of a page by its heading."""
    return page.locator(".assistant").filter(has=page.get_by_role("heading", name=name, exact=True))


def test_an_assistant_is_connected_tried_sent_to_a_memory_of_its_own_and_disconnected(window: Window, place: Place) -> None:
    window.go("assistants")
    cursor = row(window.page, "Cursor")
    expect(cursor).to_contain_text("not connected")
    cursor.get_by_role("button", name="Connect Cursor").click()
    expect(cursor.get_by_role("status")).to_contain_text("Connected.", timeout=60_000)
    expect(cursor).not_to_contain_text("last call")
    assert "lean-memory" in (place.home / ".cursor" / "mcp.json").read_text(encoding="utf-8")
    cursor.get_by_text("Details").click()
    cursor.get_by_role("button", name="Test connection").click()
    expect(cursor.get_by_role("status")).to_contain_text("ools", timeout=60_000)
    cursor.get_by_label("What it is told goes to").select_option("cursor")
    expect(cursor.get_by_label("What it is told goes to")).to_have_value("cursor")
    place.service.client("cursor").add("I am called Ana.")
    assert [fact.fact_text for fact in place.service.client().facts(namespace="cursor").facts] == ["I am called Ana."]
    expect(cursor).to_contain_text("1 written")
    cursor.get_by_role("button", name="Disconnect").click()
    expect(cursor).to_contain_text("not connected")
    assert not (place.home / ".cursor" / "mcp.json").exists()


def test_what_another_assistant_needs_is_copied(browser: Browser, service: ServiceProcess) -> None:
    with entered(browser, service, permissions=["clipboard-read", "clipboard-write"]) as window:
        window.go("assistants")
        window.page.get_by_text("Another assistant").click()
        window.page.get_by_role("button", name="Copy").click()
        expect(window.page.get_by_text("Copied.")).to_be_visible()
        copied: str = window.page.evaluate("navigator.clipboard.readText()")
        assert "mcpServers" in copied
        assert str(service.root) in copied


def test_models_are_fetched_paused_taken_up_again_chosen_and_removed(window: Window, place: Place) -> None:
    place.hub.faults.rate = SLOW
    window.go("models")
    page = window.page
    standard = row(page, "Standard")
    expect(row(page, "Built-in embedder")).to_contain_text("warm", timeout=60_000)
    expect(standard).to_contain_text("to download: 1 MB")
    standard.get_by_role("button", name="Download").click()
    expect(standard.get_by_role("progressbar")).to_be_visible()
    expect(standard).to_contain_text("left")
    standard.get_by_role("button", name="Pause").click()
    expect(standard.get_by_role("button", name="Resume")).to_be_visible()
    place.hub.faults.rate = None
    standard.get_by_role("button", name="Resume").click()
    expect(standard).to_contain_text("on this computer", timeout=60_000)
    expect(standard).to_contain_text("used from the next start on")
    expect(page.locator(".item").filter(has_text="org/tiny-embedder")).to_contain_text("MB")
    page.locator(".item").filter(has_text="Only what is built in").get_by_role("button", name="Use").click()
    standard.get_by_role("button", name="Remove").click()
    expect(standard.get_by_role("button", name="Download")).to_be_visible()


def test_activity_is_shown_of_all_or_of_one(window: Window, service: ServiceProcess) -> None:
    service.client("first-script").search("Where do I live?")
    service.client("second-script").search("Where do I live?")
    window.go("activity")
    feed = window.page.locator(".feed li")
    expect(feed.filter(has_text="first-script")).to_have_count(1)
    window.page.get_by_label("Who").select_option("second-script")
    expect(feed.filter(has_text="first-script")).to_have_count(0)
    expect(feed.filter(has_text="second-script").first).to_contain_text("searched")


def schedule(service: ServiceProcess) -> ScheduleView:
    return MaintenanceClient(service.root, service.live, admin_token(service.root)).schedule()


def test_every_setting_is_kept(window: Window, place: Place) -> None:
    window.go("settings")
    page = window.page
    page.get_by_role("button", name="Dark").click()
    page.get_by_role("switch", name="Nightly tidying").click()
    expect(page.get_by_role("region", name="Nightly tidying")).to_contain_text("paused")
    page.get_by_role("switch", name="Nightly tidying").click()
    page.get_by_label("at", exact=True).fill("04:15")
    eventually(lambda: schedule(place.service).at == "04:15")
    page.get_by_role("switch", name="Assistants may record decisions").click()
    expect(page.get_by_role("switch", name="Assistants may record decisions")).not_to_be_checked()
    page.get_by_role("switch", name="Start at login").click()
    expect(page.get_by_role("switch", name="Start at login")).to_be_checked()
    kept = schedule(place.service)
    assert (kept.paused, kept.at, kept.agents_decide) == (False, "04:15", False)
    entry = place.home / ".config" / "autostart" / "lean-memory.desktop"
    assert str(place.service.root) in entry.read_text(encoding="utf-8")
    page.reload()
    expect(page.locator("html[data-theme=dark]")).to_be_visible()
    page.get_by_role("switch", name="Start at login").click()
    expect(page.get_by_role("switch", name="Start at login")).not_to_be_checked()
    assert not entry.exists()
    expect(page.get_by_text(str(place.service.root))).to_be_visible()


def test_a_browser_is_locked_out_again(window: Window) -> None:
    window.go("settings")
    window.page.get_by_role("button", name="Lock it out").click()
    expect(window.page.get_by_role("heading", name="This browser has not been let in")).to_be_visible()
    window.page.reload()
    expect(window.page.get_by_role("heading", name="This browser has not been let in")).to_be_visible()


def test_the_first_steps_connect_what_is_found_and_fetch_models_now_later_or_never(window: Window, place: Place, tmp_path: Path) -> None:
    place.hub.faults.rate = SLOW
    window.go("welcome")
    page = window.page
    expect(page.get_by_role("button", name="Download now")).to_be_visible()
    expect(page.get_by_text("PyTorch").and_(page.get_by_text(remedy()))).to_have_count(0 if find_spec("torch") else 1)
    page.get_by_role("button", name="Later").click()
    expect(page.get_by_text("You find them under")).to_be_visible()
    page.get_by_role("button", name="Never ask").click()
    expect(page.get_by_role("button", name="Download now")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("not offered again")).to_be_visible()
    page.get_by_role("button", name="Offer them again").click()
    page.get_by_role("button", name="From a folder").click()
    page.get_by_label("Folder with the models").fill(str(tmp_path))
    page.get_by_role("button", name="Copy from there").click()
    expect(page.locator(".welcome")).to_contain_text(str(tmp_path))
    page.get_by_role("button", name="Download now").or_(page.get_by_role("button", name="Resume")).click()
    expect(page.get_by_text("They are being downloaded")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Connect Cursor").click()
    expect(page.locator(".assistant").get_by_role("status")).to_contain_text("Connected.", timeout=60_000)
    page.get_by_role("button", name="Skip").click()
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()

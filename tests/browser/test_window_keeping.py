"""The page “Your data”: each deed is looked at first, done on a second word, and done in the files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from lean_memory import Memory
from lean_memory_bridge.runtime import admin_token
from support.browser import Window
from support.service import ServiceProcess, send, start_service
from support.statements import day

CANARY = "zirkonwalnuss"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    folder = tmp_path_factory.mktemp("keeping")
    with Memory(root=folder / "memory") as memory:
        memory.add("home", "I live in Porto.", client="zed", t_ref=day(1))
        memory.add("home", f"My friend {CANARY.title()} plays the cello.", client="cursor", t_ref=day(2))
        memory.add("work", "I work at Globex.", client="zed", t_ref=day(1))
    started = start_service(folder / "memory", folder / "service.log").wait_until_up()
    try:
        yield started
    finally:
        started.kill()


def looking(window: Window, namespace: str) -> Page:
    window.go("keeping")
    window.page.get_by_label("Memory of").select_option(namespace)
    return window.page


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def objects(service: ServiceProcess, namespace: str) -> set[str]:
    return {fact.object for fact in service.client().facts(namespace=namespace).facts}


def holding(service: ServiceProcess, word: str) -> list[Path]:
    files = [path for path in service.root.rglob("*") if path.is_file()]
    return [path for path in files if word.encode() in path.read_bytes().lower()]


def test_what_one_assistant_told_is_shown_and_then_in_no_file(window: Window, service: ServiceProcess) -> None:
    page = looking(window, "home")
    section = part(page, "Forget")
    section.get_by_label("Told by").select_option("cursor")
    section.get_by_role("button", name="Show what would go…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text([f"My friend {CANARY.title()} plays the cello."])
    dialog.get_by_role("button", name="Forget for good").click()
    expect(page.get_by_text("Forgotten:")).to_be_visible()
    assert holding(service, CANARY) == []
    assert objects(service, "home") == {"Porto"}


def test_a_backup_comes_back_after_the_person_saw_what_it_would_replace(window: Window, service: ServiceProcess) -> None:
    page = looking(window, "work")
    section = part(page, "Backups")
    section.get_by_role("button", name="Back up now").click()
    expect(section.get_by_text("made by you")).to_be_visible()
    section.get_by_role("button", name="Check").first.click()
    expect(section.get_by_text("Every byte is as it was written.")).to_be_visible()
    service.client().add("I now work at Initech.", namespace="work")
    section.get_by_role("button", name="Restore…").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 fact, in the place of 2 now")
    assert objects(service, "work") == {"Initech"}
    dialog.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text("Restored.")).to_be_visible()
    assert objects(service, "work") == {"Globex"}
    expect(section.get_by_text("before a restore")).not_to_have_count(0)


def test_a_memory_is_taken_out_and_comes_in_elsewhere(window: Window, service: ServiceProcess, tmp_path: Path) -> None:
    page = looking(window, "work")
    section = part(page, "Take it with you")
    section.get_by_label("Passphrase, if you like").fill("correct horse")
    with page.expect_download() as coming:
        section.get_by_role("button", name="Download").click()
    bundle = tmp_path / coming.value.suggested_filename
    coming.value.save_as(bundle)
    assert bundle.suffix == ".leanmem"
    page.get_by_label("Memory of").select_option("home")
    part(page, "Bring in").locator("input[type=file]").first.set_input_files(bundle)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Passphrase").fill("correct horse")
    dialog.get_by_role("button", name="Look").click()
    expect(dialog).to_contain_text("I work at Globex.")
    assert "Globex" not in objects(service, "home")
    dialog.get_by_role("button", name="Bring it in").click()
    expect(dialog).to_contain_text("This was brought in")
    assert "Globex" in objects(service, "home")


def test_notes_are_brought_in_once_the_person_saw_them(window: Window, service: ServiceProcess) -> None:
    page = looking(window, "home")
    notes = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"I collect stamps.\n"}
    part(page, "Bring in").locator("input[type=file]").first.set_input_files([notes])  # type: ignore[list-item]
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("I collect stamps.")
    dialog.get_by_role("button", name="Bring it in").click()
    expect(dialog).to_contain_text("This was brought in")
    assert "stamps" in " ".join(objects(service, "home"))
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_be_hidden()


def test_what_broke_off_tells_what_came_and_goes_on_once_it_is_mended(window: Window, service: ServiceProcess, tmp_path: Path) -> None:
    whole = '[{"id": "1", "memory": "Likes rye bread", "created_at": "2025-01-03"}, {"id": "2", "memory": "Likes olives", "created_at": "2025-01-04"}]'
    path = tmp_path / "mem.json"
    path.write_text(whole[: whole.index("olives")], encoding="utf-8")
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json"}
    asked = json.dumps({"path": str(path), "namespace": "home", "apply": True}).encode()
    assert send(service.live.port, "POST", "/api/v1/bring-in", headers, asked).status == 202
    page = looking(window, "home")
    section = part(page, "Bring in")
    expect(section).to_contain_text("Bringing in broke off before its end: mem.json")
    section.get_by_role("button", name="Look").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("damaged or was cut off")
    expect(dialog).to_contain_text("1 new text of 1")
    expect(dialog).to_contain_text("as far as mem.json (100%)")
    path.write_text(whole, encoding="utf-8")
    dialog.get_by_role("button", name="Resume").click()
    expect(dialog).to_contain_text("This was brought in")
    expect(dialog).to_contain_text("1 were here already")
    dialog.get_by_role("button", name="Close").last.click()
    expect(section.get_by_text("Bringing in broke off")).to_have_count(0)


def test_a_rule_is_set_and_taken_away_again(window: Window) -> None:
    page = looking(window, "home")
    section = part(page, "How long things are kept")
    section.get_by_role("button", name="New rule…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Told by").select_option("zed")
    dialog.get_by_label("Not said for so many days").fill("30")
    dialog.get_by_role("button", name="Ask me").click()
    expect(dialog).to_contain_text("Today that would be 0 facts.")
    dialog.get_by_role("button", name="Set the rule").click()
    row = section.get_by_role("listitem")
    expect(row).to_contain_text("What zed told and nobody has said for 30 days in “home”: ask me whether to forget it")
    row.get_by_role("button", name="Remove").click()
    expect(section).to_contain_text("There are no rules.")

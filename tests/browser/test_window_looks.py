"""Every page is usable by everybody, fits a telephone, weighs little and asks nobody else for anything."""

from __future__ import annotations

import gzip
import hashlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from lean_memory import Memory
from lean_memory.domain import Fact
from lean_memory.maintenance.drafts import Draft
from lean_memory.proposals import BOTH, ProposalKind
from lean_memory_webui import STATIC
from support.browser import PAGES, Window, entered
from support.service import ServiceProcess, start_service
from support.staged import stage

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
AWKWARD = [
    f"Clara works at {LONG}.",
    "我住在上海市浦东新区世纪大道一百号的一栋很高很高的楼里面。",
    "Clara likes شركة الإسكندرية للملاحة البحرية على شاطئ البحر الأبيض المتوسط.",
    "My favourite emoji is 👩‍👩‍👧‍👦🏳️‍🌈🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄🦄.",
    "Clara likes hiking.",
    "Clara likes walking in the mountains.",
    "Otto likes jazz.",
    "Otto likes modern jazz.",
    "I live in Porto.",
    "I moved to Lisbon.",
]
_BUILT = (
    "kind_",
    "state_",
    "model_",
    "standing_",
    "score_",
    "choice_",
    "approve_",
    "reject_",
    "decided_",
    "outcome_",
    "run_",
    "reason_",
    "did_",
    "mark_",
    "role_",
    "tier_",
    "occasion_",
    "take_out_",
    "bringing_",
    "import_",
    "rule_does_",
    "means_",
)
"""Beginnings of names that are put together from what the service says."""
HEAVIEST = 300_000
"""Bytes of the whole page, compressed."""


def drafts(known: dict[str, Fact]) -> list[Draft]:
    def found(*texts: str) -> tuple[Fact, ...]:
        return tuple(known[text] for text in texts if text in known)

    merged, torn = found(AWKWARD[5], AWKWARD[4]), found(AWKWARD[6], AWKWARD[7])
    long = tuple(fact for text, fact in known.items() if LONG in text)
    made = (
        [Draft(kind=ProposalKind.MERGE, entity="Clara", facts=merged, reason="They say the same.", cosine=0.96)] if len(merged) == 2 else []
    )
    if len(torn) == 2:
        choices = ("jazz", "modern jazz", BOTH)
        made.append(Draft(kind=ProposalKind.CONFLICT, entity="Otto", facts=torn, reason="Both may hold.", choices=choices))
    made += [Draft(kind=ProposalKind.DEMOTION, entity="Clara", facts=(fact,), reason="Rarely useful.") for fact in long]
    return made


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    folder = tmp_path_factory.mktemp("looks")
    root = folder / "memory"
    with Memory(root=root) as memory:
        memory.add_many("default", [{"text": text} for text in AWKWARD])
        memory.add("أعمال و " + LONG[:60], "I like tea.")
    assert stage(root, "default", drafts) >= 2
    started = start_service(root, folder / "service.log").wait_until_up()
    started.client("a-very-" + "long-" * 11).search("Where do I live?")
    try:
        yield started
    finally:
        started.kill()


def opened_wide(window: Window, name: str) -> None:
    """A page with what can be unfolded unfolded, and its answers there."""
    window.go(name)
    page = window.page
    expect(page.locator("[aria-busy]")).to_have_count(0)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    if name == "memories":
        page.locator(".fact .row").first.click()
        expect(page.locator(".chain")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(browser: Browser, service: ServiceProcess, scheme: str) -> None:
    # What axe does to the page is forbidden by the page's own policy; the policy has tests of its own.
    with entered(browser, service, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce") as window:
        found = {}
        for name in PAGES:
            opened_wide(window, name)
            found[name] = window.violations()
        window.go("memories")
        window.page.get_by_role("button", name="Tell it something").click()
        found["telling"] = window.violations()
        window.page.keyboard.press("Escape")
        window.page.get_by_role("button", name="Forget this…").click()
        found["forgetting"] = window.violations()
        assert {name: objections for name, objections in found.items() if objections} == {}


@pytest.mark.parametrize(("width", "height", "locale"), [(360, 740, "en-GB"), (360, 740, "zh-CN"), (3840, 2160, "en-GB")])
def test_no_text_sticks_out_of_the_screen(browser: Browser, service: ServiceProcess, width: int, height: int, locale: str) -> None:
    with entered(browser, service, viewport={"width": width, "height": height}, locale=locale, reduced_motion="reduce") as window:
        found = {}
        for name in PAGES:
            opened_wide(window, name)
            found[name] = window.sideways()
        assert {name: elements for name, elements in found.items() if elements} == {}


def test_the_whole_page_weighs_little() -> None:
    weighed = {
        path.relative_to(STATIC).as_posix(): len(gzip.compress(path.read_bytes(), 6))
        for path in STATIC.rglob("*")
        if path.suffix in {".html", ".css", ".js", ".svg"}
    }
    assert sum(weighed.values()) < HEAVIEST, weighed


def test_every_module_is_asked_for_at_once() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    modules = {f"/static/{path.relative_to(STATIC).as_posix()}" for path in STATIC.rglob("*.js")}
    assert set(re.findall(r'(?:modulepreload" href|module" src)="([^"]+)"', page)) == modules


@pytest.mark.parametrize("folder", [STATIC / "vendor", Path(__file__).parents[1] / "support" / "vendor"])
def test_what_others_wrote_is_as_their_packages_have_it_with_its_licence(folder: Path) -> None:
    record = tomllib.loads((folder / "vendored.toml").read_text(encoding="utf-8"))
    files = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.js")}
    assert files == record["sha256"]
    for package in record["package"]:
        assert package["version"]
        assert package["licence"]
        assert (folder / f"LICENSE.{package['name'].split('/')[-1]}.txt").is_file()


def test_both_languages_say_everything() -> None:
    english, chinese = (
        _names(STATIC / "app" / f"words.{language}.js") | _names(STATIC / "app" / f"words.keeping.{language}.js")
        for language in ("en", "zh")
    )
    assert english == chinese
    used = "".join(path.read_text(encoding="utf-8") for path in (STATIC / "app").rglob("*.js"))
    assert sorted(name for name in english if f"'{name}'" not in used and not name.startswith(_BUILT)) == []


def _names(path: Path) -> set[str]:
    return set(re.findall(r"(?:^|, |\s)([a-z][a-z_]*): (?=['(`]|some)", path.read_text(encoding="utf-8")))

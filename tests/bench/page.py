"""The window over ten thousand facts and 300 proposals: when something is there, what holds the browser up, how fast two pages agree, and how much it weighs.

`python -m bench.page [ROOT]`; a `ROOT` that is given is made once and used again. Chromium on the PATH; no figure means anything on a busy machine.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page

from lean_memory import Memory
from lean_memory.domain import Fact
from lean_memory.maintenance.drafts import Draft
from lean_memory.proposals import ProposalKind
from lean_memory_webui import STATIC
from support.browser import opened, running_browser
from support.service import ServiceProcess, start_service
from support.staged import DAY, stage

FACTS, PROPOSALS, OPENINGS = 10_000, 300, 7
NAMES = ("Clara", "Otto", "Mina", "Bruno", "Ines", "Jakob", "Lena", "Tariq", "Yuki", "Pavel")
CITIES = ("Porto", "Vienna", "Lisbon", "Lyon", "Graz", "Oslo", "Turin")
WATCH = """
window.long = [];
new PerformanceObserver((seen) => window.long.push(...seen.getEntries().map((one) => Math.round(one.duration)))).observe({ type: 'longtask', buffered: true });
new MutationObserver((_, watch) => {
    if (!document.querySelector('.fact, .card')) return;
    window.there = performance.now();
    watch.disconnect();
}).observe(document, { childList: true, subtree: true });
"""
HEARD = """new MutationObserver((_, watch) => {
    if (!document.querySelector('.card.chosen .notice')) return;
    window.heard = Date.now();
    watch.disconnect();
}).observe(document.body, { childList: true, subtree: true })"""


def main(root: Path | None) -> None:
    """Make the memory if there is none, measure, and print a line for each."""
    with tempfile.TemporaryDirectory() as folder:
        place = root or Path(folder) / "memory"
        if not place.exists():
            fill(place)
        service = start_service(place, Path(folder) / "service.log").wait_until_up()
        try:
            with running_browser() as browser:
                measure(browser, service)
        finally:
            service.kill()
    print(f"weight: {weight() / 1000:.0f} kB compressed")


def fill(root: Path) -> None:
    """The facts and the proposals."""
    with Memory(root=root) as memory:
        told = list(sentences())
        for start in range(0, len(told), 500):
            memory.add_many("default", told[start : start + 500])
    print(f"{stage(root, 'default', pairs)} proposals wait")


def sentences() -> Iterator[dict[str, object]]:
    """Facts about some hundred people, told over years."""
    now = time.time_ns() // 1_000_000
    for number in range(FACTS):
        person = NAMES[number % 10] + (f" {chr(65 + number // 10 % 26)}" if number > 9 else "")
        kinds = (
            f"{person} visited {CITIES[number % 7]} on trip {number}.",
            f"{person} likes chess problem {number}.",
            f"I bought item {number} for {number % 90} euros.",
            f"{person} likes the book with the number {number}.",
        )
        yield {"text": kinds[number % 4], "t_ref": now - (FACTS - number) * DAY // 20}


def pairs(known: dict[str, Fact]) -> list[Draft]:
    """What somebody might put together."""
    # Every fourth sentence is one of these, and those that wait already are not among the known ones.
    first = {f"chess problem {number}." for number in range(8 * PROPOSALS)}
    liked = sorted((fact for fact in known.values() if fact.fact_text.partition(" likes ")[2] in first), key=lambda fact: fact.id)
    two = zip(liked[0::2], liked[1::2], strict=False)
    return [
        Draft(kind=ProposalKind.MERGE, entity=one.subject, facts=(one, other), reason="They say the same.", cosine=0.96)
        for one, other in two
    ]


def measure(browser: Browser, service: ServiceProcess) -> None:
    """Both pages, then two of them beside each other."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-GB")
    context.add_init_script(WATCH)
    page = opened(context, service).page
    page.locator(".fact").first.wait_for()
    for name, item in (("memories", ".fact"), ("review", ".card")):
        print(f"{name}: first content after {spread([opening(page, service, name) for _ in range(OPENINGS)])}")
        print(f"{name}: tasks over 50 ms while opening {longs(page)}")
        scroll(page)
        print(f"{name}: {page.locator(item).count()} drawn, tasks over 50 ms while scrolling {longs(page)}")
    print(f"review: tasks over 50 ms with 40 keys {moved(page)}")
    opening(page, service, "memories")
    print(f"memories: tasks over 50 ms while filtering {filtered(page)}")
    print(f"two pages agree after {spread([agreed(context, service) for _ in range(3)])}")
    context.close()


def opening(page: Page, service: ServiceProcess, name: str) -> float:
    """Milliseconds from the beginning of a navigation to the first fact or card, as the page itself saw it."""
    page.goto("about:blank")
    page.goto(f"{service.live.address}/#/{name}")
    page.locator(".fact, .card").first.wait_for()
    page.wait_for_timeout(1000)
    return float(page.evaluate("window.there"))


def scroll(page: Page) -> None:
    page.mouse.move(700, 500)
    for _ in range(40):
        page.mouse.wheel(0, 900)
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)


def moved(page: Page) -> list[int]:
    longs(page)
    for _ in range(40):
        page.keyboard.press("j")
        page.wait_for_timeout(50)
    return longs(page)


def filtered(page: Page) -> list[int]:
    page.get_by_label("Filter by words").focus()
    page.wait_for_timeout(500)
    longs(page)
    page.keyboard.type("chess problem 12", delay=60)
    page.wait_for_timeout(1000)
    for _ in range(16):
        page.keyboard.press("Backspace")
        page.wait_for_timeout(40)
    page.wait_for_timeout(1000)
    return longs(page)


def agreed(context: BrowserContext, service: ServiceProcess) -> float:
    """Milliseconds from a key on one page until another page says that the proposal was decided."""
    one, other = (opened(context, service).page for _ in range(2))
    for page in (one, other):
        page.goto(f"{service.live.address}/#/review")
        page.locator(".card.chosen").wait_for()
    other.evaluate(HEARD)
    one.evaluate("addEventListener('keydown', () => { window.pressed = Date.now() }, { once: true })")
    one.keyboard.press("x")
    other.locator(".card.chosen .notice").wait_for()
    taken = float(other.evaluate("window.heard")) - float(one.evaluate("window.pressed"))
    one.close()
    other.close()
    return taken


def longs(page: Page) -> list[int]:
    """The long tasks since the last look, in milliseconds."""
    return list(page.evaluate("window.long.splice(0)"))


def weight() -> int:
    """Bytes of all files of the page, compressed."""
    return sum(len(gzip.compress(path.read_bytes(), 6)) for path in STATIC.rglob("*") if path.suffix in {".html", ".css", ".js", ".svg"})


def spread(times: list[float]) -> str:
    return f"{statistics.median(times):.0f} ms (median of {len(times)}, at most {max(times):.0f})"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)

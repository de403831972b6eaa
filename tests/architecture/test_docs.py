"""What the README and the pages behind it point at is there, and the README stays short enough to be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors that a heading gets where such pages are shown: lower case, punctuation gone, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def targets(page: Path) -> list[str]:
    found = LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return [one or other for one, other in found if not (one or other).startswith(("http://", "https://"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in targets(page):
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), f"{page.name} points at {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} points at {target}"


def test_the_readme_leads_to_every_page_and_is_short() -> None:
    readme = ROOT / "README.md"
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= {target.partition("#")[0] for target in targets(readme)}
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 300

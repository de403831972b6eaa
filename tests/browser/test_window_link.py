"""A link that lets a browser in may say which page it opens on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from lean_memory import Memory
from support.service import ServiceProcess, running_service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    folder: Path = tmp_path_factory.mktemp("link")
    with Memory(root=folder / "memory") as memory:
        memory.add("default", "I like tea.")
    with running_service(folder) as running:
        yield running


def test_it_opens_on_the_page_that_is_named_after_the_code(browser: Browser, service: ServiceProcess) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        address = service.live.address
        page.goto(f"{address}/#code={service.client().window_code().code}/review")
        expect(page.get_by_role("heading", name="Review", level=1)).to_be_visible()
        assert page.url == f"{address}/#/review"
        # The tray's window is let in anew where the service has moved, and goes to another page of the same address otherwise.
        page.goto(f"{address}/#code={service.client().window_code().code}/models")
        expect(page.get_by_role("heading", name="Models", level=1)).to_be_visible()
        assert page.url == f"{address}/#/models"
    finally:
        context.close()

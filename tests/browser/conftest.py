"""A browser and a service that the tests of one module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from support.browser import Window, entered, running_browser
from support.service import ServiceProcess


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=20_000)
    with running_browser() as started:
        yield started


@pytest.fixture
def window(browser: Browser, service: ServiceProcess) -> Iterator[Window]:
    with entered(browser, service) as opened:
        yield opened

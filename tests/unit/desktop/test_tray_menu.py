"""The icon and its menu as they are given to the library that draws them; its back end for tests draws nothing."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from lean_memory_desktop.state import Action, Do, Panel, view
from lean_memory_desktop.tray import Tray
from unit.desktop.test_state import KNOWN, assistant, waiting, with_state


@pytest.fixture
def library() -> Iterator[Any]:
    with mock.patch.dict(os.environ, {"PYSTRAY_BACKEND": "dummy"}):
        pystray: Any = import_module("pystray")

        class Icon(pystray.Icon):
            """An icon that nobody sees."""

            def _update_icon(self) -> None: ...
            def _update_menu(self) -> None: ...
            def _update_title(self) -> None: ...

        yield SimpleNamespace(Icon=Icon, Menu=pystray.Menu, MenuItem=pystray.MenuItem)


@pytest.fixture
def chosen() -> queue.SimpleQueue[Action]:
    return queue.SimpleQueue()


def icon_of(tray: Tray) -> Any:
    return tray._icon  # pyright: ignore[reportPrivateUsage] - what the library holds is what a person would see


def item(menu: Any, label: str) -> Any:
    return next(one for one in menu.items if one.text == label)


def test_the_menu_has_what_the_state_says_and_reports_what_is_chosen(library: Any, chosen: queue.SimpleQueue[Action]) -> None:
    known = replace(with_state(upkeep=(waiting(2),)), assistants=(assistant("Zed", "connected"),))
    tray = Tray(library, view(known), chosen=chosen.put, panel=lambda: Panel.DARK)
    menu = icon_of(tray).menu
    item(menu, "Review 2 proposals…")(icon_of(tray))
    zed = item(item(menu, "Assistants").submenu, "Zed")
    assert zed.checked
    zed(icon_of(tray))
    assert not item(menu, "2 proposals wait for you").enabled
    assert item(menu, "Open memory…").default
    assert [chosen.get(timeout=5), chosen.get(timeout=5)] == [Action(do=Do.OPEN, what="review"), Action(do=Do.SWITCH, what="zed")]


def test_what_did_not_change_is_left_as_it_is(library: Any, chosen: queue.SimpleQueue[Action]) -> None:
    panels = [Panel.DARK, Panel.DARK, Panel.LIGHT]
    tray = Tray(library, view(KNOWN), chosen=chosen.put, panel=lambda: panels.pop(0))
    icon = icon_of(tray)
    before = (icon.icon, icon.menu, icon.title)
    tray.show(view(KNOWN))
    assert (icon.icon, icon.menu, icon.title) == before
    tray.show(view(KNOWN))
    assert icon.icon is not before[0]
    assert icon.menu is before[1]


def test_a_count_that_falls_changes_icon_title_and_menu(library: Any, chosen: queue.SimpleQueue[Action]) -> None:
    tray = Tray(library, view(with_state(upkeep=(waiting(1),))), chosen=chosen.put, panel=lambda: Panel.DARK)
    icon = icon_of(tray)
    before = icon.icon
    tray.show(view(KNOWN))
    assert icon.icon is not before
    assert icon.title == "Lean Memory: ready"
    assert item(icon.menu, "Review…").enabled

"""The tray app as a whole, with an icon that nobody sees and processes that end as a test wants."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from lean_memory_bridge.refusals import UnreachableError
from lean_memory_desktop import desk, housekeeping
from lean_memory_desktop.doorbell import TRAY_FILE, ring
from lean_memory_desktop.news import Notice
from lean_memory_desktop.remembered import write_object
from lean_memory_desktop.state import Known, view
from lean_memory_desktop.supervisor import End
from support.supervised import eventually
from unit.desktop.test_state import KNOWN

REASON = "The service ended 6 times, the last time with code 1."


class Icon:
    """Keeps what it was given last, until it is stopped."""

    can_end = True

    def __init__(self, _name: str, icon: Any, title: str, menu: Any) -> None:
        self.icon, self.title, self.menu, self.visible = icon, title, menu, False
        self._stopped = threading.Event()
        seen.append(self)

    def run(self, setup: Callable[[Any], None]) -> None:
        setup(self)
        assert self._stopped.wait(60)

    def stop(self) -> None:
        if self.can_end:
            self._stopped.set()

    def thaw(self) -> None:
        self._stopped.set()


class MenuItem:
    """An entry as the library is given it."""

    def __init__(self, text: str, action: Any, **_: Any) -> None:
        self.text, self.action = text, action


class Menu(tuple[Any, ...]):
    """The entries of a menu."""

    SEPARATOR = MenuItem("", None)

    def __new__(cls, *items: Any) -> Menu:
        return super().__new__(cls, items)


seen: list[Icon] = []


class Household:
    """Processes that end as `ends` says, one after the other; then they run until they are stopped."""

    ends: queue.SimpleQueue[End | OSError]

    def __init__(self, _root: Path) -> None:
        self.reason, self._stopped = REASON, threading.Event()

    def run(self) -> End:
        if self.ends.empty():
            assert self._stopped.wait(60)
            return End.ASKED
        end = self.ends.get()
        if isinstance(end, OSError):
            raise end
        return end

    def stop(self) -> None:
        self._stopped.set()


@pytest.fixture
def told() -> queue.SimpleQueue[Notice]:
    return queue.SimpleQueue()


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch, told: queue.SimpleQueue[Notice]) -> queue.SimpleQueue[Any]:
    seen.clear()
    Household.ends = queue.SimpleQueue()
    library = SimpleNamespace(Icon=Icon, Menu=Menu, MenuItem=MenuItem)
    monkeypatch.setattr(desk, "import_module", lambda _: library)
    monkeypatch.setattr(housekeeping, "Household", Household)
    monkeypatch.setattr(desk, "stop_on_signals", lambda _: None)
    monkeypatch.setattr("lean_memory_desktop.notify.Notifier.show", lambda _, notice: told.put(notice))
    return Household.ends


def begun(root: Path) -> threading.Thread:
    root.mkdir(exist_ok=True)
    house = housekeeping.Housekeeper(root)
    house.start()
    app = desk.Desk(root, house, opens=False)

    def run() -> None:
        app.run()
        house.stop()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def running(root: Path) -> threading.Thread:
    thread = begun(root)
    eventually(lambda: seen and seen[0].visible)
    return thread


def choose(label: str) -> None:
    next(item for item in seen[0].menu if item.text == label).action(seen[0], None)


def test_what_cannot_be_kept_running_is_told_once_and_can_be_started_again(
    root: Path, ends: queue.SimpleQueue[Any], told: queue.SimpleQueue[Notice]
) -> None:
    ends.put(End.FAILED)
    ends.put(OSError(28, "No space left on device"))
    app = running(root)
    eventually(lambda: seen[0].title == f"Lean Memory: {REASON}")
    assert told.get(timeout=10).text == REASON
    choose("Start again")
    assert "No space left on device" in told.get(timeout=10).text
    eventually(lambda: "cannot be used" in seen[0].title)
    choose("Start again")
    eventually(lambda: seen[0].title == "Lean Memory: starting…")
    choose("Quit")
    app.join(60)
    assert not app.is_alive()
    assert not (root / TRAY_FILE).exists()
    assert told.empty()


def test_it_ends_with_a_service_that_was_told_to_end(root: Path, ends: queue.SimpleQueue[Any]) -> None:
    ends.put(End.ASKED)
    app = begun(root)
    app.join(60)
    assert not app.is_alive()


def test_switches_are_kept_and_a_second_start_is_heard(
    root: Path, ends: queue.SimpleQueue[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del ends
    pages: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("lean_memory_desktop.window_keeper.WindowKeeper.show", lambda _, page: pages.put(page))
    app = running(root)
    assert ring(root, "review")
    assert pages.get(timeout=10) == "review"
    for label in ("Pause memory", "Notifications", "Start at login"):
        choose(label)
    eventually((root / "paused").exists)
    eventually(lambda: b'"notifies": false' in ((root / "desktop.json").read_bytes() if (root / "desktop.json").exists() else b""))
    choose("Quit")
    app.join(60)
    assert not app.is_alive()


def test_it_runs_where_nothing_can_be_written_and_is_heard_once_there_is_room(
    root: Path, ends: queue.SimpleQueue[Any], told: queue.SimpleQueue[Notice], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(28, "No space left on device")
    ends.put(full)

    def refuse(*_: object) -> None:
        raise full

    monkeypatch.setattr(desk, "_REDRAWN_EVERY", 0.02)
    monkeypatch.setattr("lean_memory_desktop.doorbell.write_object", refuse)
    monkeypatch.setattr("lean_memory_desktop.window_keeper.WindowKeeper.show", lambda *_: None)
    app = running(root)
    assert "Make room" in told.get(timeout=10).text
    assert not ring(root)
    monkeypatch.setattr("lean_memory_desktop.doorbell.write_object", write_object)
    eventually(lambda: ring(root))
    choose("Quit")
    app.join(60)
    assert not app.is_alive()


def test_it_tells_the_time_of_the_zone_in_which_the_computer_is_by_now(
    root: Path, ends: queue.SimpleQueue[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    del ends
    zones = [ZoneInfo("Europe/Lisbon")]
    monkeypatch.setattr(desk, "_REDRAWN_EVERY", 0.02)
    monkeypatch.setattr(desk, "local_zone", lambda _: zones[-1])
    shown: list[Known] = []
    monkeypatch.setattr(desk, "view", lambda known: shown.append(known) or view(known))
    app = running(root)
    eventually(lambda: shown[-1].now.tzinfo == zones[0])
    zones.append(ZoneInfo("Asia/Tokyo"))
    eventually(lambda: shown[-1].now.tzinfo == zones[1])
    choose("Quit")
    app.join(60)
    assert not app.is_alive()


def test_a_service_that_goes_while_it_is_looked_at_unasked_is_no_news(
    root: Path, ends: queue.SimpleQueue[Any], told: queue.SimpleQueue[Notice], monkeypatch: pytest.MonkeyPatch
) -> None:
    del ends
    looked = threading.Event()

    class Going:
        """Tells its state, and is gone when it is asked for anything."""

        def snapshots(self) -> list[object]:
            return [KNOWN.snapshot]

        def assistants(self) -> object:
            looked.set()
            raise UnreachableError("It is gone.")

    monkeypatch.setattr(desk, "finder", lambda _: Going)
    app = running(root)
    assert looked.wait(60)
    choose("Quit")
    app.join(60)
    assert not app.is_alive()
    assert told.empty()


def test_an_icon_that_does_not_end_is_not_waited_for(root: Path, ends: queue.SimpleQueue[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    del ends
    left: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setattr(desk, "leave_at_once", left.put)
    monkeypatch.setattr(desk, "_LONGEST_END", 0.05)
    monkeypatch.setattr(Icon, "can_end", False)
    app = running(root)
    choose("Quit")
    assert "did not end" in left.get(timeout=10)
    seen[0].thaw()
    app.join(60)
    assert not app.is_alive()

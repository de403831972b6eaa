"""Notices reach the system's notifications, quietly, and a click on one comes back."""

from __future__ import annotations

import asyncio
import logging
import queue
import sys
from collections.abc import Iterator
from typing import Any

import desktop_notifier
import pytest

from lean_memory_desktop import notify
from lean_memory_desktop.news import Notice
from lean_memory_desktop.notify import Notifier

DIGEST = Notice(title="Looked through", text="2 proposals wait.", page="review")
ALARM = Notice(title="Needs you", text="The disk is full.", page="settings", is_trouble=True)


class Backend:
    """Stands for the system: notes what it is sent, and clicks on it. So many of the next ones as `missed` says are shown by nobody."""

    def __init__(self) -> None:
        self.sent: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.missed = self.made = 0

    def __call__(self, **_: Any) -> Backend:
        self.made += 1
        return self

    async def send(self, **given: Any) -> None:
        self.sent.put(given)
        if given["title"] == "raise":
            raise OSError("nobody there")
        if given["title"] == "hang":
            await asyncio.Event().wait()
        if self.missed:
            self.missed -= 1
            return
        given["on_dispatched"]()
        given["on_clicked"]()


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    made = Backend()
    monkeypatch.setattr(desktop_notifier, "DesktopNotifier", made)
    return made


@pytest.fixture
def clicked() -> queue.SimpleQueue[Notice]:
    return queue.SimpleQueue()


@pytest.fixture
def notifier(backend: Backend, clicked: queue.SimpleQueue[Notice]) -> Iterator[Notifier]:
    del backend
    made = Notifier(clicked.put, pauses=(0.02, 0.02, 0.02))
    made.start()
    yield made
    made.stop()


def test_a_click_comes_back_with_what_was_shown(notifier: Notifier, clicked: queue.SimpleQueue[Notice]) -> None:
    notifier.show(DIGEST)
    assert clicked.get(timeout=10) == DIGEST


def test_a_digest_is_quiet_and_nothing_breaks_through_do_not_disturb(notifier: Notifier, backend: Backend) -> None:
    notifier.show(DIGEST)
    notifier.show(ALARM)
    urgencies = [backend.sent.get(timeout=10)["urgency"] for _ in range(2)]
    assert urgencies == [desktop_notifier.Urgency.Low, desktop_notifier.Urgency.Normal]


def test_where_nothing_can_be_shown_the_next_one_is_tried_all_the_same(notifier: Notifier, clicked: queue.SimpleQueue[Notice]) -> None:
    notifier.show(Notice(title="raise", text="", page=""))
    notifier.show(DIGEST)
    assert clicked.get(timeout=10) == DIGEST


def test_what_nobody_shows_is_tried_again_with_a_new_connection_and_the_log_says_so_once(
    notifier: Notifier, backend: Backend, clicked: queue.SimpleQueue[Notice], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    backend.missed = 3
    notifier.show(DIGEST)
    assert clicked.get(timeout=10) == DIGEST
    assert backend.made == 4
    notifier.show(ALARM)
    assert clicked.get(timeout=10) == ALARM
    assert [record.getMessage().split(" (")[0] for record in caplog.records if record.name == "lean_memory_desktop.notify"] == [
        "Notifications cannot be shown",
        "Notifications are shown again",
    ]


def test_what_may_be_shown_yet_is_not_sent_again(
    notifier: Notifier, backend: Backend, clicked: queue.SimpleQueue[Notice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "_LONGEST_SENDING", 0.05)
    notifier.show(Notice(title="hang", text="", page=""))
    notifier.show(DIGEST)
    assert clicked.get(timeout=10) == DIGEST
    assert [backend.sent.get(timeout=10)["title"] for _ in range(2)] == ["hang", DIGEST.title]
    assert backend.made == 1


def test_without_the_library_nothing_is_shown_and_nothing_breaks(
    notifier: Notifier, clicked: queue.SimpleQueue[Notice], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as missing:
        missing.setitem(sys.modules, "desktop_notifier", None)
        notifier.show(ALARM)
        notifier.stop()
    assert clicked.empty()

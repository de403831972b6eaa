"""What a shim had started leaves ten minutes after its last client: not earlier, not later. A clock of our own, and no waiting."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lean_memory_bridge.shim.presence import present
from lean_memory_bridge.shim.starting import IDLE_EXIT, Starter
from lean_memory_desktop import household
from lean_memory_desktop.supervisor import End, Program

STEP = 30.0
"""Seconds between two looks of a supervisor."""
BEGAN = 1_800_000_000.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


class Hours:
    """Time that passes when a supervisor waits; `then` is called with what has passed after each wait."""

    def __init__(self, then: Callable[[float], None]) -> None:
        self.passed, self._then = 0.0, then

    def now(self) -> float:
        return BEGAN + self.passed

    def queue(self) -> Any:
        events: queue.SimpleQueue[object] = queue.SimpleQueue()

        def get(timeout: float) -> object:
            with contextlib.suppress(queue.Empty):
                return events.get_nowait()
            assert timeout <= STEP
            self.passed += max(timeout, 0.01)
            self._then(self.passed)
            raise queue.Empty

        return SimpleNamespace(get=get, put=events.put)


def left_after(root: Path, monkeypatch: pytest.MonkeyPatch, then: Callable[[float], None]) -> float:
    """Seconds after which a household that a shim started has left."""
    hours = Hours(then)
    child = Program(name="child", words=(sys.executable, "-c", "import sys; sys.stdin.read()"))
    monkeypatch.setattr(household, "service_program", lambda _: child)
    monkeypatch.setattr(household, "worker_program", lambda _: child)
    monkeypatch.setattr(household, "time", SimpleNamespace(time=hours.now))
    monkeypatch.setattr("lean_memory_desktop.supervisor.time", SimpleNamespace(monotonic=hours.now))
    monkeypatch.setattr("lean_memory_desktop.supervisor.queue", SimpleNamespace(SimpleQueue=hours.queue, Empty=queue.Empty))
    assert household.Household(root, idle_exit=IDLE_EXIT).run() is End.IDLE
    return hours.passed


def test_a_shim_asks_for_ten_minutes(root: Path) -> None:
    said = root / "said"
    program = [sys.executable, "-c", f"import sys; open({str(said)!r}, 'w').write(' '.join(sys.argv[1:]))"]
    with pytest.raises(Exception, match="could not be started"):
        Starter(root=root, program=program).service(60)
    assert said.read_text(encoding="utf-8") == f"--root {root} --idle-exit 600"


def test_it_leaves_ten_minutes_after_the_last_shim(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = contextlib.ExitStack()
    shim.enter_context(present(root))

    def then(passed: float) -> None:
        if passed >= 3600:
            shim.close()

    assert 3600 + IDLE_EXIT - STEP <= left_after(root, monkeypatch, then) <= 3600 + IDLE_EXIT + STEP


def test_and_ten_minutes_after_the_last_call_of_a_client_without_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = root / household.ACCESS_FILE
    access.touch()
    os.utime(access, (BEGAN, BEGAN))

    def then(passed: float) -> None:
        if passed <= 3600:
            os.utime(access, (BEGAN + passed, BEGAN + passed))

    assert 3600 + IDLE_EXIT - STEP <= left_after(root, monkeypatch, then) <= 3600 + IDLE_EXIT + 3 * STEP

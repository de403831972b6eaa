"""Two starts: one runs, the other shows its window, or takes its place where it is just ending."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from lean_memory.only_one import only_one
from lean_memory_desktop import instance, notify
from lean_memory_desktop.cli import tray
from lean_memory_desktop.cli.options import Exit, Options
from lean_memory_desktop.doorbell import Doorbell
from lean_memory_desktop.news import Notice


@pytest.fixture
def started(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Which roots were started, each as the first of its root; on a screen, but from no terminal."""
    root.mkdir()
    roots: list[Path] = []

    def run(_: Options, begun: Path) -> int:
        roots.append(begun)
        return Exit.FINE

    monkeypatch.setattr(tray, "_as_the_first", run)
    monkeypatch.setattr("lean_memory_desktop.system.why_no_tray", lambda: "")
    monkeypatch.setattr("lean_memory_desktop.system.has_screen", lambda: True)
    return roots


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Notice]:
    notices: list[Notice] = []
    monkeypatch.setattr(notify.Notifier, "tell", lambda _, notice: notices.append(notice))
    return notices


def options(root: Path) -> Options:
    given = Options()
    given.root = str(root)
    return given


def test_locks_and_notes_that_were_left_behind_hinder_nobody(root: Path, started: list[Path]) -> None:
    for name in (tray.LOCK_FILE, "tray.json"):
        (root / name).write_text('{"port": 1, "word": "x"}', encoding="utf-8")
    assert tray.start(options(root)) == Exit.FINE
    assert started == [root]


def test_one_that_runs_shows_its_window_instead(root: Path, started: list[Path]) -> None:
    pages: list[str] = []

    def comes(page: str) -> bool:
        pages.append(page)
        return True

    with only_one(root / tray.LOCK_FILE) as first:
        assert first
        bell = Doorbell(root, comes)
        assert tray.start(options(root)) == Exit.FINE
        bell.close()
    assert (pages, started) == ([""], [])


def test_the_place_of_one_that_is_ending_is_taken(root: Path, started: list[Path]) -> None:
    rung = threading.Event()

    def ending(_: str) -> bool:
        rung.set()
        return False

    second = threading.Thread(target=tray.start, args=(options(root),))
    with only_one(root / tray.LOCK_FILE):
        bell = Doorbell(root, ending)
        second.start()
        assert rung.wait(60)
        assert not started
        bell.close()
    second.join(60)
    assert started == [root]


def test_one_that_does_not_answer_is_told_of(
    root: Path, started: list[Path], told: list[Notice], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tray, "_PATIENCE", 0.0)
    with only_one(root / tray.LOCK_FILE):
        assert tray.start(options(root)) == Exit.FAILED
    assert "runs already, but does not answer" in capsys.readouterr().err
    assert ["does not answer" in notice.text for notice in told] == [True]
    assert not started


def test_a_folder_that_cannot_be_had_is_told_of(
    root: Path, started: list[Path], told: list[Notice], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tray, "_as_the_first", refuse)
    assert tray.start(options(root)) == Exit.FAILED
    said = capsys.readouterr().err
    assert "Read-only file system. Nothing was changed." in " ".join(said.split())
    assert [notice.title for notice in told] == ["Lean Memory cannot start"]
    assert not started


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves by itself", "stays"])
def test_without_a_tray_one_that_would_leave_by_itself_makes_way_and_one_that_stays_is_shown(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, leaves: bool
) -> None:
    done: list[str] = []

    def do(what: str) -> int:
        done.append(what)
        return Exit.FINE

    root.mkdir()
    instance.say_running(root, leaves=leaves)
    with contextlib.ExitStack() as other:
        other.enter_context(instance.claimed(root))
        monkeypatch.setattr("lean_memory_desktop.taking_over._ask_to_leave", lambda _: other.close())
        monkeypatch.setattr("lean_memory_desktop.system.why_no_tray", lambda: "There is no screen.")
        monkeypatch.setattr("lean_memory_desktop.cli.serving.supervise", lambda *_: do("supervise"))
        monkeypatch.setattr("lean_memory_desktop.cli.window.open", lambda _: do("open"))
        assert tray.start(options(root)) == Exit.FINE
    assert done == ["supervise" if leaves else "open"]

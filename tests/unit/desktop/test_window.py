"""The window's place, its process, and its fall-back."""

from __future__ import annotations

import queue
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from lean_memory_desktop.remembered import write_object
from lean_memory_desktop.supervisor import Patience
from lean_memory_desktop.window import WINDOW_FILE, Place, on_a_screen, read_place, web_engine
from lean_memory_desktop.window_keeper import EXIT_NO_ENGINE, WindowKeeper
from support.shim import PATIENCE
from support.supervised import eventually, is_alive

SCREENS = [(0, 0, 1920, 1080), (1920, 0, 1280, 1024)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def test_size_and_place_are_remembered(root: Path) -> None:
    assert read_place(root / WINDOW_FILE) == Place()
    write_object(root / WINDOW_FILE, {"width": 900, "height": 700, "x": 10, "y": 20})
    assert read_place(root / WINDOW_FILE) == Place(width=900, height=700, x=10, y=20)


def test_a_size_that_makes_no_sense_is_not_taken_over(root: Path) -> None:
    write_object(root / WINDOW_FILE, {"width": 3, "height": True, "x": "left", "y": None})
    assert read_place(root / WINDOW_FILE) == Place(width=360)
    write_object(root / WINDOW_FILE, {"width": 10**12, "height": 10**12})
    assert read_place(root / WINDOW_FILE) == Place(width=20_000, height=20_000)


@pytest.mark.parametrize(("x", "y", "kept"), [(100, 100, True), (-900, 50, True), (3000, 900, True), (4000, 100, False), (50, -40, False)])
def test_a_window_is_never_left_on_a_screen_that_is_gone(x: int, y: int, kept: bool) -> None:
    place = Place(width=1000, height=700, x=x, y=y)
    assert on_a_screen(place, SCREENS) == (place if kept else Place(width=1000, height=700))


def test_what_the_page_offers_can_be_kept_as_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webview", SimpleNamespace(settings={"ALLOW_DOWNLOADS": False}))
    assert web_engine().settings["ALLOW_DOWNLOADS"] is True


BROKEN = """
import sys, threading
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock
from lean_memory_desktop.window import Window

def begin(obey, given):
    threading.Thread(target=obey, args=given).start()
    threading.Event().wait()

Window._way_in = lambda self, page: ("address", "link")
window = MagicMock()
window.load_url.side_effect = RuntimeError("Main window failed to start")
Window(Path(sys.argv[1]), SimpleNamespace(screens=[], create_window=lambda *_, **__: window, start=begin), print).run("", iter([]))
"""


def test_a_window_whose_engine_fails_ends_instead_of_staying_deaf(root: Path) -> None:
    words = [sys.executable, "-c", BROKEN, str(root)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "Main window failed to start" in done.stderr


def keeper(root: Path, body: str, shown: queue.SimpleQueue[str]) -> WindowKeeper:
    """A keeper of windows that do what `body` says and write what they are told to a file."""
    start = f"import sys, pathlib; out = pathlib.Path({str(root / 'told')!r}).open('a', buffering=1); page = sys.argv[-1]\n"
    return WindowKeeper(root, shown.put, [sys.executable, "-c", start + textwrap.dedent(body)])


OBEDIENT = """
    import os
    print(os.getpid(), page, file=out)
    for line in sys.stdin: print(line.strip(), file=out)
"""


def told(root: Path) -> list[str]:
    return (root / "told").read_text(encoding="utf-8").splitlines() if (root / "told").exists() else []


def test_there_is_one_window_which_is_told_what_to_show_and_ends_with_its_keeper(root: Path) -> None:
    windows = keeper(root, OBEDIENT, queue.SimpleQueue())
    windows.show("review")
    windows.show("models")
    windows.show("")
    eventually(lambda: len(told(root)) == 3)
    first, *orders = told(root)
    assert first.endswith(" review")
    assert orders == ["show models", "show"]
    windows.stop()
    assert not is_alive(int(first.split()[0]))
    windows.show("review")
    assert len(told(root)) == 3


def test_one_that_cannot_end_in_good_order_goes_with_its_keeper_all_the_same(root: Path) -> None:
    body = """
        import os, threading
        from lean_memory_desktop.orders import followed
        orders = followed(sys.stdin, patience=0.1)
        threading.Thread(target=threading.Event().wait).start()
        for order in orders: print(os.getpid(), order, file=out)
    """
    windows = keeper(root, body, queue.SimpleQueue())
    windows.show("")
    windows.show("review")
    eventually(lambda: told(root))
    pid, *order = told(root)[0].split()
    assert order == ["show", "review"]
    windows.stop()
    assert not is_alive(int(pid))
    assert not (root / "logs" / "window.log").read_text(encoding="utf-8")


def test_without_a_web_engine_the_browser_shows_every_page(root: Path) -> None:
    shown: queue.SimpleQueue[str] = queue.SimpleQueue()
    windows = keeper(root, f"sys.exit({EXIT_NO_ENGINE})", shown)
    windows.show("review")
    assert shown.get(timeout=30) == "review"
    windows.show("models")
    assert shown.get(timeout=30) == "models"
    assert not (root / "told").read_text(encoding="utf-8")


def test_a_window_that_breaks_at_once_is_replaced_by_the_browser_and_tried_again_the_next_time(root: Path) -> None:
    shown: queue.SimpleQueue[str] = queue.SimpleQueue()
    windows = keeper(root, "print('x', file=out); sys.exit('broken')", shown)
    for _ in range(2):
        windows.show("time")
        assert shown.get(timeout=30) == "time"
    assert told(root) == ["x", "x"]
    assert "broken" in (root / "logs" / "window.log").read_text(encoding="utf-8")


def test_one_that_dies_after_it_worked_comes_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lean_memory_desktop.window_keeper._PATIENCE", Patience(pauses=(0.0,)))
    body = """
        print(page, file=out)
        print('shown', flush=True)
        if len(pathlib.Path(out.name).read_text().split()) < 3: sys.exit(9)
        sys.stdin.read()
    """
    windows = keeper(root, body, queue.SimpleQueue())
    windows.show("review")
    eventually(lambda: told(root) == ["review"] * 3)
    windows.stop()


def test_one_that_dies_unseen_comes_back_when_it_is_wanted(root: Path) -> None:
    body = """
        import os, signal
        print(os.getpid(), page, file=out)
        print('shown', flush=True)
        for line in sys.stdin:
            print('hidden', flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    shown: queue.SimpleQueue[str] = queue.SimpleQueue()
    windows = keeper(root, body, shown)
    windows.show("review")
    windows.show("")
    eventually(lambda: not any(thread.name == "window" or isinstance(thread, threading.Timer) for thread in threading.enumerate()))
    assert len(told(root)) == 1
    windows.show("models")
    eventually(lambda: len(told(root)) == 2)
    assert told(root)[1].endswith(" models")
    assert shown.empty()
    windows.stop()


def test_its_log_stays_short_while_it_is_there(root: Path) -> None:
    body = "sys.stderr.write('x' * 1_000_001 + '!'); sys.stderr.flush()\n" + OBEDIENT.replace("    ", "").replace(":print", ": print")
    windows = keeper(root, body, queue.SimpleQueue())
    log = root / "logs" / "window.log"
    windows.show("")
    eventually(lambda: log.exists() and log.stat().st_size > 1_000_000)
    windows.show("models")
    assert log.stat().st_size == 0
    assert log.with_suffix(".log.1").read_bytes().endswith(b"!")
    windows.stop()

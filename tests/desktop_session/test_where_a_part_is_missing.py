"""The icon and the notifications where the session lacks a part: no bus, nobody who shows notifications, a screen that does not answer."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_session.desk import Desktop, desktop, eventually, missing, shown_by_dunst
from desktop_session.test_a_day_with_the_tray import has_window
from lean_memory_desktop.news import Notice
from lean_memory_desktop.notify import Notifier
from support.shim import environment

pytestmark = pytest.mark.skipif(bool(missing()) or not has_window(), reason="no virtual desktop with GTK and WebKit on this machine")
PATIENCE = 60


@pytest.fixture
def bare(root: Path, tmp_path: Path) -> Iterator[Desktop]:
    """A screen and a bus, and nobody on them."""
    with desktop(tmp_path / "desk", environment(root), shows=()) as found:
        yield found


@pytest.fixture
def start(bare: Desktop) -> Iterator[Callable[[dict[str, str]], subprocess.Popen[str]]]:
    """Starts the icon alone, in an environment that is a little different, and gives it once it stands."""
    started: list[subprocess.Popen[str]] = []

    def begin(changed: dict[str, str]) -> subprocess.Popen[str]:
        environ = {name: value for name, value in {**bare.environ, **changed}.items() if value}
        paths = os.pathsep.join([environ["PYTHONPATH"], str(Path(__file__).parents[1])])
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "desktop_session.icon"],
            env={**environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "stands\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("bus", ["", "unix:path=/nowhere/bus"])
def test_the_icon_stands_and_ends_without_a_session_bus_and_takes_its_picture_along(
    start: Callable[[dict[str, str]], subprocess.Popen[str]], tmp_path: Path, bus: str
) -> None:
    session = tmp_path / "session"
    session.mkdir()
    icon = start({"DBUS_SESSION_BUS_ADDRESS": bus, "XDG_RUNTIME_DIR": str(session), "TMPDIR": "/nowhere"})
    assert len(list(session.glob("*.png"))) == 1
    icon.send_signal(signal.SIGTERM)
    assert icon.wait(PATIENCE) == 0
    assert not list(session.glob("*.png"))


def test_ctrl_c_ends_it_well_where_nobody_shows_notifications(start: Callable[[dict[str, str]], subprocess.Popen[str]]) -> None:
    icon = start({})
    icon.send_signal(signal.SIGINT)
    assert icon.wait(PATIENCE) == 0


@pytest.mark.timeout(120)
def test_a_signal_is_heard_while_the_screen_does_not_answer(
    bare: Desktop, start: Callable[[dict[str, str]], subprocess.Popen[str]]
) -> None:
    icon = start({})
    assert icon.stdin is not None
    assert icon.stdout is not None
    bare.programs["Xvfb"].send_signal(signal.SIGSTOP)
    try:
        print(file=icon.stdin, flush=True)
        assert icon.stdout.readline() == "shown\n"
        icon.send_signal(signal.SIGTERM)
        assert icon.stdout.readline() == "asked\n"
    finally:
        bare.programs["Xvfb"].send_signal(signal.SIGCONT)
    assert icon.wait(PATIENCE) == 0


def test_a_notice_waits_for_somebody_who_shows_it(bare: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bare.environ["DBUS_SESSION_BUS_ADDRESS"])
    clicked: queue.SimpleQueue[Notice] = queue.SimpleQueue()
    notifier = Notifier(clicked.put, pauses=[0.2] * 200)
    notifier.start()
    open_before = None
    try:
        for title in ("Before anybody came", "After a fall"):
            notifier.show(Notice(title=title, text="", page="review"))
            with shown_by_dunst(bare):
                eventually(lambda: "Currently displayed: 1" in bare.notices())
                bare.ask("dunstctl", "action")
                assert clicked.get(timeout=PATIENCE).title == title
                now = len(list(Path("/proc/self/fd").iterdir()))
            assert now <= (open_before or now)
            open_before = now
    finally:
        notifier.stop()

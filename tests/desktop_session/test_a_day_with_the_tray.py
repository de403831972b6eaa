"""The tray app on a real desktop that nobody sees: its icon, menu, notification, window and page are looked at and clicked."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PIL import Image, ImageChops

import lean_memory_webui
from desktop_session.desk import Desktop, desktop, eventually, missing
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.runtime import admin_token
from lean_memory_desktop.state import pending
from lean_memory_desktop.system import add_system_gtk
from support.proposals import tell_of_old_likes
from support.shim import environment
from support.supervised import has_ended, live

AMBER = (181, 84, 0)
GREEN = (29, 106, 91)
PANEL = (0, 0, 1280, 40)


def has_window() -> bool:
    probe = "import gi; gi.require_version('WebKit2', '4.1'); gi.require_version('Gtk', '3.0'); gi.require_version('AyatanaAppIndicator3', '0.1')"
    before = list(sys.path)
    add_system_gtk()
    path, sys.path[:] = os.pathsep.join(sys.path), before
    done = subprocess.run([sys.executable, "-c", probe], env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=False)
    return done.returncode == 0 and importlib.util.find_spec("webview") is not None


pytestmark = pytest.mark.skipif(bool(missing()) or not has_window(), reason="no virtual desktop with GTK and WebKit on this machine")


@pytest.fixture
def desk(root: Path, tmp_path: Path) -> Iterator[Desktop]:
    tell_of_old_likes(root)
    with desktop(tmp_path / "desk", with_page(environment(root))) as found:
        yield found


@pytest.fixture
def tray(desk: Desktop, root: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = start(desk, root)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)


def with_page(environ: dict[str, str]) -> dict[str, str]:
    page = str(Path(lean_memory_webui.__file__).parents[1])
    return {**environ, "PYTHONPATH": f"{environ['PYTHONPATH']}{os.pathsep}{page}"}


def start(desk: Desktop, root: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "lean_memory_desktop", "--root", str(root), *words]
    with (desk.folder / "tray.log").open("ab") as log:
        return subprocess.Popen(command, env=desk.environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def client_of(root: Path) -> MaintenanceClient:
    return MaintenanceClient(root, live(root), admin_token(root))


def place_of(colour: tuple[int, int, int], picture: Path) -> tuple[int, int] | None:
    """The middle of what has a colour in the panel, or none where nothing has."""
    with Image.open(picture) as image:
        panel = image.convert("RGB").crop(PANEL)
    off = ImageChops.difference(panel, Image.new("RGB", panel.size, colour)).convert("L").point(lambda far: 255 if far < 30 else 0)
    found = off.getbbox()
    return None if found is None else ((found[0] + found[2]) // 2, (found[1] + found[3]) // 2)


def children_of(process: subprocess.Popen[bytes]) -> dict[str, int]:
    """The processes of a tray by what they are."""
    named = {"lean_memory_bridge": "service", "lean_memory_desktop.window": "window"}
    children = [child for child in psutil.Process(process.pid).children() if child.status() != psutil.STATUS_ZOMBIE]
    found = ((named.get(word), child.pid) for child in children for word in child.cmdline())
    return {name: pid for name, pid in found if name is not None}


def choose(desk: Desktop, steps: int) -> None:
    """Open the icon's menu and choose the entry that so many steps down from the top lead to; what is only read is passed over."""
    icon = place_of(GREEN, desk.picture("icon"))
    assert icon is not None
    desk.click(*icon)
    eventually(lambda: desk.ask("xdotool", "search", "--onlyvisible", "--class", "lean|main|python"))
    desk.ask("xdotool", "key", "--delay", "80", *["Down"] * steps, "Return")


def test_from_a_proposal_to_its_decision(desk: Desktop, tray: subprocess.Popen[bytes], root: Path) -> None:
    eventually(lambda: place_of(GREEN, desk.picture("started")))
    service = client_of(root)
    assert place_of(AMBER, desk.picture("started")) is None
    # The first program of a session that uses GTK would load half a hundred megabytes of OpenGL.
    assert not [
        line for line in Path(f"/proc/{tray.pid}/maps").read_text(encoding="utf-8").splitlines() if "/dri/" in line or "LLVM" in line
    ]

    # Review, Open memory, Assistants, Tidy up now.
    choose(desk, 4)
    eventually(lambda: pending(service.snapshot()) == 1)
    eventually(lambda: place_of(AMBER, desk.picture("badge")))
    eventually(lambda: "Currently displayed: 1" in desk.notices())

    desk.click(1000, 90)
    eventually(lambda: desk.windows("Lean Memory"))
    eventually(lambda: has_page(desk))
    eventually(lambda: presses_until(desk, lambda: pending(service.snapshot()) == 0))
    eventually(lambda: place_of(AMBER, desk.picture("decided")) is None)
    assert "Currently displayed: 0" in desk.notices()

    ended = children_of(tray).values()
    # Three more lie below: the tidying's, the models', the rest; Up from the top is the last one.
    icon = place_of(GREEN, desk.picture("icon"))
    assert icon is not None
    desk.click(*icon)
    desk.ask("xdotool", "key", "--delay", "80", "Up", "Return")
    assert tray.wait(60) == 0
    assert all(has_ended(pid) for pid in ended)


def has_page(desk: Desktop) -> bool:
    """Whether the window shows more than an empty page."""
    with Image.open(desk.picture("review")) as image:
        return len(image.convert("RGB").crop((200, 150, 1200, 750)).getcolors(1 << 20) or ()) > 100


def presses_until(desk: Desktop, decided: object) -> bool:
    assert callable(decided)
    if decided():
        return True
    desk.ask("xdotool", "key", "a")
    return bool(decided())


def test_whatever_is_killed_comes_back_and_goes_with_the_tray(desk: Desktop, tray: subprocess.Popen[bytes], root: Path) -> None:
    first = live(root)
    with start(desk, root) as second:
        assert second.wait(60) == 0
    eventually(lambda: desk.windows("Lean Memory"))
    os.kill(first.pid, signal.SIGKILL)
    eventually(lambda: live(root).instance != first.instance)
    left = children_of(tray)
    assert set(left) == {"service", "window"}
    tray.kill()
    tray.wait(60)
    assert all(has_ended(pid) for pid in left.values())

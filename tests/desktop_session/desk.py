"""A desktop of its own: a screen that nobody sees, a session bus, a window manager, a panel that shows tray icons, a notification daemon."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("Xvfb", "dbus-daemon", "openbox", "tint2", "dunst", "dunstctl", "xdotool", "import")
"""What has to be installed, from the packages xvfb dbus openbox tint2 dunst xdotool imagemagick."""
_PANEL = """
panel_items = S
panel_size = 100% 40
panel_position = top center horizontal
panel_background_id = 1
systray_icon_size = 24
systray_padding = 8 4 4
rounded = 0
background_color = #eeeeee 100
"""
_NOTICES = """
[global]
    monitor = 0
    offset = 20x60
    width = 360
    mouse_left_click = do_action, close_current
    history_length = 50
[urgency_low]
    timeout = 0
[urgency_normal]
    timeout = 0
"""


def eventually(holds: Callable[[], object], *, patience: float = 40.0) -> None:
    """Wait, with a bound in seconds of the clock as looking at a screen takes its time, until something has happened."""
    deadline, tick = time.monotonic() + patience, threading.Event()
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        tick.wait(0.1)


def missing() -> list[str]:
    """What of the desktop is not installed here."""
    return [name for name in NEEDED if shutil.which(name) is None]


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """A desktop that runs; `environ` is what programs on it find in their environment."""

    environ: Mapping[str, str]
    folder: Path
    programs: Mapping[str, subprocess.Popen[bytes]]
    """What makes up the desktop, by the names of the programs."""

    def ask(self, *words: str) -> str:
        """What a command on this desktop prints; empty where it fails."""
        done = subprocess.run(words, env=self.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
        return done.stdout.strip()

    def picture(self, name: str) -> Path:
        """A picture of the whole screen."""
        path = self.folder / f"{name}.png"
        subprocess.run(["import", "-window", "root", str(path)], env=self.environ, check=True, timeout=30)
        return path

    def windows(self, title: str) -> list[str]:
        """The windows of this title that can be seen."""
        return self.ask("xdotool", "search", "--onlyvisible", "--name", f"^{title}$").split()

    def click(self, x: int, y: int, button: int = 1) -> None:
        """Click somewhere."""
        self.ask("xdotool", "mousemove", str(x), str(y), "click", str(button))

    def notices(self) -> str:
        """Every notification that was shown so far, as JSON."""
        return self.ask("dunstctl", "history") + self.ask("dunstctl", "count")


@contextlib.contextmanager
def desktop(folder: Path, environ: Mapping[str, str], shows: Sequence[str] = ("openbox", "tint2", "dunst")) -> Generator[Desktop]:
    """A desktop until the block ends, with those programs on it; what it writes is in `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / "tint2rc").write_text(_PANEL, encoding="utf-8")
    (folder / "dunstrc").write_text(_NOTICES, encoding="utf-8")
    with contextlib.ExitStack() as stack:
        read, write = os.pipe()
        screen = _start(
            stack, folder, ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"], environ, write
        )
        os.close(write)
        with os.fdopen(read) as told:
            number = told.readline().strip()
        assert number, f"Xvfb did not start ({screen.poll()})"
        bus = folder / "bus"
        seen = {
            **{name: value for name, value in environ.items() if not name.startswith("WAYLAND")},
            "DISPLAY": f":{number}",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}",
            "NO_AT_BRIDGE": "1",
            "GTK_USE_PORTAL": "0",
            "XDG_RUNTIME_DIR": str(folder),
            "HOME": str(folder),
        }
        folder.chmod(0o700)
        _start(stack, folder, ["dbus-daemon", "--session", "--nofork", f"--address=unix:path={bus}"], seen)
        eventually(bus.exists)
        words = {"openbox": [], "tint2": ["-c", str(folder / "tint2rc")], "dunst": ["-conf", str(folder / "dunstrc")]}
        programs = {name: _start(stack, folder, [name, *words[name]], seen) for name in shows}
        found = Desktop(environ=seen, folder=folder, programs={"Xvfb": screen, **programs})
        if "dunst" in shows:
            eventually(lambda: found.ask("dunstctl", "count"))
        yield found


@contextlib.contextmanager
def shown_by_dunst(desk: Desktop) -> Generator[None]:
    """Somebody who shows notifications on a desktop without any, until the block ends."""
    with contextlib.ExitStack() as stack:
        _start(stack, desk.folder, ["dunst", "-conf", str(desk.folder / "dunstrc")], desk.environ)
        eventually(lambda: desk.ask("dunstctl", "count"))
        yield


def _start(stack: contextlib.ExitStack, folder: Path, words: list[str], environ: Mapping[str, str], *kept: int) -> subprocess.Popen[bytes]:
    with (folder / f"{words[0]}.log").open("wb") as log:
        process = subprocess.Popen(words, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=kept)

    def end() -> None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(end)
    return process

"""What the tray asks of the system it runs on: whether there can be a tray, how its panel looks, and opening folders and addresses."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import webbrowser
from collections.abc import Generator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lean_memory_desktop.state import Panel

INSTALL = "pip install 'lean-memory-desktop[desktop]'"
_DISTRIBUTIONS = (Path("/usr/lib/python3/dist-packages"), Path("/usr/lib64/python3/site-packages"), Path("/usr/lib/python3/site-packages"))
_WATCHER = "org.kde.StatusNotifierWatcher"
_THEMES = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"
_OPENGL = "GDK_GL"
_PATIENCE = 3.0


def has_screen(platform: str = sys.platform, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this process could show anything to a person."""
    return platform in {"darwin", "win32"} or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def add_system_gtk(folders: Sequence[Path] = _DISTRIBUTIONS) -> None:
    """Let an environment of its own use the system's GTK bindings, where they were built for this very Python.

    They come with the system's packages and not from the registry; the folder goes to the end of the path, so that it shadows nothing.
    """
    if sys.platform != "linux" or find_spec("gi") is not None:
        return
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    found = next((folder for folder in folders if (folder / "gi" / f"_gi{suffix}").exists()), None)
    if found is not None:
        sys.path.append(str(found))


def why_no_tray() -> str:
    """Why there can be no tray icon here, as a sentence; empty where there can. Loads what draws it."""
    if not has_screen():
        return "There is no screen here, so there is no tray icon."
    add_system_gtk()
    lacking = [name for name in ("pystray", "PIL") if find_spec(name) is None]
    if lacking:
        return f"The tray icon needs packages that are not installed ({', '.join(lacking)}); {INSTALL} installs them."
    if sys.platform == "linux" and find_spec("gi") is None:
        return (
            "The tray icon needs GTK's bindings for this Python, which are not here; on Debian and Ubuntu they are the packages "
            "python3-gi and gir1.2-ayatanaappindicator3-0.1."
        )
    try:
        with _without_opengl():
            library: Any = import_module("pystray")
    except Exception as error:  # noqa: BLE001 - it raises what its systems' libraries raise, some of it not even an ImportError
        return f"The tray icon cannot be drawn here ({error or type(error).__name__})."
    if not library.Icon.HAS_MENU:
        return "The only tray icon that could be had here has no menu; the package gir1.2-ayatanaappindicator3-0.1 brings one that has."
    return ""


@contextlib.contextmanager
def _without_opengl() -> Generator[None]:
    """While the block runs, let GTK begin without OpenGL, of which an icon has no use and whose software form takes 50 MB of memory."""
    before = os.environ.get(_OPENGL)
    os.environ[_OPENGL] = "disable"
    try:
        yield
    finally:
        # The window's web engine does use it, and inherits what stands there.
        del os.environ[_OPENGL]
        if before is not None:
            os.environ[_OPENGL] = before


def has_tray_host() -> bool:
    """Whether anybody shows tray icons at present. One may come later: at a login the panel is often slower than we are."""
    return sys.platform != "linux" or _has_notifier_host() or _has_system_tray()


def panel(platform: str = sys.platform, registry: Any = None) -> Panel:
    """What the icon stands on, as far as the system tells. Linux does not: its panels have colours of their own."""
    if platform == "win32":
        return _windows_panel(registry or import_module("winreg"))
    if platform == "darwin":
        said = _said_by("defaults", "read", "-g", "AppleInterfaceStyle")
        return Panel.DARK if said == "Dark" else Panel.LIGHT
    return Panel.UNKNOWN


def open_folder(folder: Path, platform: str = sys.platform) -> None:
    """Show a folder in the system's file manager. Raises `OSError`."""
    if platform == "win32":
        starter: Any = os
        starter.startfile(folder)
        return
    words = ("open", str(folder)) if platform == "darwin" else ("xdg-open", str(folder))
    subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def open_address(address: str) -> bool:
    """Show an address in the person's browser; whether one was found."""
    return has_screen() and webbrowser.open(address)


def _has_notifier_host() -> bool:
    try:
        gio: Any = import_module("gi.repository.Gio")
        glib: Any = import_module("gi.repository.GLib")
    except ImportError:
        return False
    try:
        bus = gio.bus_get_sync(gio.BusType.SESSION, None)
        asked = glib.Variant("(s)", (_WATCHER,))
        name = "org.freedesktop.DBus"
        answer = bus.call_sync(name, "/org/freedesktop/DBus", name, "NameHasOwner", asked, None, gio.DBusCallFlags.NONE, 2000, None)
    except glib.Error:
        return False
    return bool(answer.unpack()[0])


def _has_system_tray() -> bool:
    try:
        library: Any = import_module("Xlib.display")
        screen = library.Display()
    except Exception:  # noqa: BLE001 - without an X server it raises errors of many kinds, and then there is no such tray
        return False
    try:
        return bool(screen.get_selection_owner(screen.intern_atom(f"_NET_SYSTEM_TRAY_S{screen.get_default_screen()}")))
    finally:
        screen.close()


def _windows_panel(registry: Any) -> Panel:
    try:
        with registry.OpenKey(registry.HKEY_CURRENT_USER, _THEMES) as key:
            light, _ = registry.QueryValueEx(key, "SystemUsesLightTheme")
    except OSError:
        return Panel.DARK
    return Panel.LIGHT if light else Panel.DARK


def _said_by(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""

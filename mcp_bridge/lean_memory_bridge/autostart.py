"""Starting at login, as each system does it: off until the person chooses it, and gone without a trace when they take it back."""

from __future__ import annotations

import os
import plistlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from xml.parsers.expat import ExpatError

NAME = "lean-memory"
LABEL = "org.leanmemory.tray"
RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
RUN_VALUE = "Lean Memory"
APPROVED_KEY = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
"""Where Windows keeps, under the same name, that its task manager switched an entry off: bytes of which the first is odd then."""
_MEANS_MORE = '\\"`$'
"""Characters that mean something within the double quotes of a desktop entry."""


class Autostart(Protocol):
    """One system's way. `turn_on` and `turn_off` raise `OSError`, and doing either twice is the same as doing it once."""

    def is_on(self) -> bool: ...
    def turn_on(self) -> None: ...
    def turn_off(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAtLogin:
    """A file in a folder that the system looks through at login. `is_off` tells of its text whether the system passes it over."""

    file: Path
    content: bytes
    is_off: Callable[[bytes], bool]

    def is_on(self) -> bool:
        try:
            return not self.is_off(self.file.read_bytes())
        except OSError:
            return False

    def turn_on(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(self.content)

    def turn_off(self) -> None:
        self.file.unlink(missing_ok=True)


def _desktop_entry(folder: Path, words: Sequence[str]) -> FileAtLogin:
    """Linux: a file in the autostart folder of the XDG specification."""
    lines = (
        "[Desktop Entry]",
        "Type=Application",
        "Name=Lean Memory",
        "Comment=A private memory that your assistants share",
        f"Exec={' '.join(_quoted(word) for word in words)}",
        "Terminal=false",
        "X-GNOME-Autostart-enabled=true",
    )
    return FileAtLogin(file=folder / f"{NAME}.desktop", content=("\n".join(lines) + "\n").encode(), is_off=_is_hidden)


def _is_hidden(entry: bytes) -> bool:
    """Whether a desktop entry was switched off, as the desktops' own settings do it instead of removing it."""
    group = entry.decode("utf-8", "replace").partition("[Desktop Entry]")[2].partition("\n[")[0]
    keys = [line.partition("=") for line in group.splitlines()]
    said = {key.strip(): value.strip().lower() for key, _, value in keys}
    return said.get("Hidden") == "true" or said.get("X-GNOME-Autostart-enabled") == "false"


def _launch_agent(folder: Path, words: Sequence[str]) -> FileAtLogin:
    """macOS: a property list that launchd reads at the next login."""
    agent = {"Label": LABEL, "ProgramArguments": list(words), "RunAtLoad": True, "ProcessType": "Interactive"}
    return FileAtLogin(file=folder / f"{LABEL}.plist", content=plistlib.dumps(agent), is_off=_is_disabled)


def _is_disabled(agent: bytes) -> bool:
    """Whether a launch agent says that it is not to be started."""
    try:
        return plistlib.loads(agent).get("Disabled") is True
    except (ValueError, AttributeError, ExpatError):
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """Windows: a value under the person's own Run key. `registry` is the module `winreg`."""

    registry: Any
    words: Sequence[str]

    def is_on(self) -> bool:
        if self._value(RUN_KEY) is None:
            return False
        approved = self._value(APPROVED_KEY)
        return not (isinstance(approved, bytes) and approved[:1] and approved[0] & 1)

    def turn_on(self) -> None:
        self._remove(APPROVED_KEY)
        with self.registry.CreateKeyEx(self.registry.HKEY_CURRENT_USER, RUN_KEY, 0, self.registry.KEY_WRITE) as key:
            self.registry.SetValueEx(key, RUN_VALUE, 0, self.registry.REG_SZ, subprocess.list2cmdline(self.words))

    def turn_off(self) -> None:
        for path in (RUN_KEY, APPROVED_KEY):
            self._remove(path)

    def _value(self, path: str) -> object:
        try:
            with self._key(path, self.registry.KEY_READ) as key:
                return self.registry.QueryValueEx(key, RUN_VALUE)[0]
        except FileNotFoundError:
            return None

    def _remove(self, path: str) -> None:
        try:
            with self._key(path, self.registry.KEY_WRITE) as key:
                self.registry.DeleteValue(key, RUN_VALUE)
        except FileNotFoundError:
            return

    def _key(self, path: str, access: int) -> Any:
        return self.registry.OpenKey(self.registry.HKEY_CURRENT_USER, path, 0, access)


def autostart_of(
    root: Path,
    *,
    platform: str = sys.platform,
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    executable: str = sys.executable,
    registry: Any = None,
) -> Autostart:
    """The way of this system, for the tray of a data root."""
    home = home or Path.home()
    words = (_without_console(executable, platform), "-P", "-m", "lean_memory_desktop", "--root", str(root), "--at-login")
    if platform == "win32":
        return RunKey(registry=registry or import_module("winreg"), words=words)
    if platform == "darwin":
        return _launch_agent(folder=home / "Library" / "LaunchAgents", words=words)
    configured = environ.get("XDG_CONFIG_HOME", "")
    # The specification says to pass over a relative path.
    folder = Path(configured) if configured.startswith("/") else home / ".config"
    return _desktop_entry(folder=folder / "autostart", words=words)


def _without_console(executable: str, platform: str) -> str:
    """On Windows the interpreter that opens no console window, where it lies beside this one."""
    head, _, tail = executable.rpartition("\\")
    quiet = f"{head}\\pythonw.exe"
    return quiet if platform == "win32" and tail.lower() == "python.exe" and Path(quiet).exists() else executable


def _quoted(word: str) -> str:
    """A word as an argument of a desktop entry's Exec line: quoted, its special characters escaped, `%` doubled as it begins a field code."""
    escaped = "".join(f"\\{character}" if character in _MEANS_MORE else character for character in word)
    # The value of the line is unescaped once more before the quotes are read.
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'

"""Starting at login, as each system keeps it."""

from __future__ import annotations

import configparser
import plistlib
import shlex
from pathlib import Path
from typing import Any

import pytest

from lean_memory_bridge.autostart import APPROVED_KEY, LABEL, RUN_KEY, RUN_VALUE, Autostart, autostart_of


class FakeRegistry:
    """The person's part of a registry, with the calls of `winreg` that are used."""

    HKEY_CURRENT_USER, KEY_READ, KEY_WRITE, REG_SZ = "HKCU", 1, 2, 1

    def __init__(self) -> None:
        self.keys: dict[str, dict[str, Any]] = {}
        self._path = ""

    def OpenKey(self, root: str, path: str, _reserved: int = 0, _access: int = 1) -> FakeRegistry:  # noqa: N802 - its name there
        assert root == "HKCU"
        if path not in self.keys:
            raise FileNotFoundError(path)
        self._path = path
        return self

    def CreateKeyEx(self, root: str, path: str, _reserved: int, _access: int) -> FakeRegistry:  # noqa: N802
        self.keys.setdefault(path, {})
        return self.OpenKey(root, path)

    def SetValueEx(self, _key: Any, name: str, _reserved: int, _kind: int, value: str) -> None:  # noqa: N802
        self.keys[self._path][name] = value

    def QueryValueEx(self, _key: Any, name: str) -> tuple[Any, int]:  # noqa: N802
        if name not in self.keys[self._path]:
            raise FileNotFoundError(name)
        return self.keys[self._path][name], 1

    def DeleteValue(self, _key: Any, name: str) -> None:  # noqa: N802
        if self.keys[self._path].pop(name, None) is None:
            raise FileNotFoundError(name)

    def __enter__(self) -> FakeRegistry:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def of(platform: str, home: Path, registry: Any = None, **environ: str) -> Autostart:
    root = home / 'my "memory" $5 100%'
    return autostart_of(root, platform=platform, home=home, environ=environ, executable="/opt/py thon", registry=registry)


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_it_is_off_until_it_is_chosen_and_gone_afterwards(platform: str, tmp_path: Path) -> None:
    registry = FakeRegistry()
    login = of(platform, tmp_path, registry)
    assert not login.is_on()
    login.turn_off()
    for _ in range(2):
        login.turn_on()
        assert of(platform, tmp_path, registry).is_on()
    for _ in range(2):
        login.turn_off()
        assert not login.is_on()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert all(not values for values in registry.keys.values())


def switch_off(platform: str, home: Path, registry: FakeRegistry) -> None:
    """What the system's own settings do."""
    if platform == "win32":
        registry.keys.setdefault(APPROVED_KEY, {})[RUN_VALUE] = b"\x03" + bytes(11)
    elif platform == "darwin":
        file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        file.write_bytes(plistlib.dumps({**plistlib.loads(file.read_bytes()), "Disabled": True}))
    else:
        file = home / ".config" / "autostart" / "lean-memory.desktop"
        file.write_text(file.read_text(encoding="utf-8") + "Hidden=true\n", encoding="utf-8")


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_it_is_off_where_the_systems_settings_switched_it_off_and_can_be_chosen_again(platform: str, tmp_path: Path) -> None:
    registry = FakeRegistry()
    login = of(platform, tmp_path, registry)
    login.turn_on()
    switch_off(platform, tmp_path, registry)
    assert not login.is_on()
    login.turn_on()
    assert login.is_on()
    switch_off(platform, tmp_path, registry)
    login.turn_off()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert all(not values for values in registry.keys.values())


def test_gnome_has_a_key_of_its_own_for_it_and_what_cannot_be_read_is_off(tmp_path: Path) -> None:
    login = of("linux", tmp_path)
    login.turn_on()
    file = tmp_path / ".config" / "autostart" / "lean-memory.desktop"
    file.write_text(file.read_text(encoding="utf-8").replace("enabled=true", "enabled=false"), encoding="utf-8")
    assert not login.is_on()
    agent = of("darwin", tmp_path)
    agent.turn_on()
    (tmp_path / "Library" / "LaunchAgents" / f"{LABEL}.plist").write_bytes(b"<plist>")
    assert not agent.is_on()


def test_linux_reads_back_the_words_that_were_written(tmp_path: Path) -> None:
    of("linux", tmp_path).turn_on()
    parser = configparser.RawConfigParser()
    parser.read(tmp_path / ".config" / "autostart" / "lean-memory.desktop", encoding="utf-8")
    line = parser["Desktop Entry"]["Exec"].replace("\\\\", "\\").replace("%%", "%").replace("\\$", "$")
    assert shlex.split(line)[-2:] == [str(tmp_path / 'my "memory" $5 100%'), "--at-login"]
    assert shlex.split(line)[0] == "/opt/py thon"


def test_linux_follows_the_configured_folder_where_it_is_absolute(tmp_path: Path) -> None:
    of("linux", tmp_path, XDG_CONFIG_HOME=str(tmp_path / "elsewhere")).turn_on()
    assert (tmp_path / "elsewhere" / "autostart" / "lean-memory.desktop").exists()
    of("linux", tmp_path, XDG_CONFIG_HOME="relative").turn_on()
    assert (tmp_path / ".config" / "autostart" / "lean-memory.desktop").exists()


def test_macos_gets_an_agent_that_launchd_starts_at_login(tmp_path: Path) -> None:
    of("darwin", tmp_path).turn_on()
    agent = plistlib.loads((tmp_path / "Library" / "LaunchAgents" / f"{LABEL}.plist").read_bytes())
    assert (agent["Label"], agent["RunAtLoad"], agent["ProgramArguments"][-1]) == (LABEL, True, "--at-login")


def test_windows_gets_one_command_line(tmp_path: Path) -> None:
    registry = FakeRegistry()
    of("win32", tmp_path, registry).turn_on()
    command = registry.keys[RUN_KEY][RUN_VALUE]
    assert command.startswith('"/opt/py thon" -P -m lean_memory_desktop --root ')
    assert command.endswith("--at-login")

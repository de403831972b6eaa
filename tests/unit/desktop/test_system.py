"""What is asked of the system, with fakes of its calls."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from lean_memory_desktop import system
from lean_memory_desktop.state import Panel
from unit.desktop.test_autostart import FakeRegistry

THEMES = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"


@pytest.mark.parametrize(("light", "panel"), [(1, Panel.LIGHT), (0, Panel.DARK), (None, Panel.DARK)])
def test_windows_tells_how_its_taskbar_looks(light: int | None, panel: Panel) -> None:
    registry: Any = FakeRegistry()
    registry.keys[THEMES] = {} if light is None else {"SystemUsesLightTheme": light}
    assert system.panel("win32", registry) is panel
    assert system.panel("win32", FakeRegistry()) is Panel.DARK


@pytest.mark.parametrize(("said", "panel"), [("Dark\n", Panel.DARK), ("", Panel.LIGHT)])
def test_macos_tells_how_its_menu_bar_looks(said: str, panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(words: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        assert words[0] == "defaults"
        return subprocess.CompletedProcess(words, 0, said, "")

    monkeypatch.setattr(subprocess, "run", run)
    assert system.panel("darwin") is panel


def test_on_linux_the_icon_brings_its_own_ground() -> None:
    assert system.panel("linux") is Panel.UNKNOWN


@pytest.mark.parametrize(("platform", "words"), [("darwin", ("open", "/data")), ("linux", ("xdg-open", "/data"))])
def test_a_folder_is_shown_by_the_systems_own_program(platform: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda given, **_: started.append(given))
    system.open_folder(Path("/data"), platform)
    assert started == [words]


def test_windows_shows_a_folder_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Path] = []
    monkeypatch.setattr("os.startfile", shown.append, raising=False)
    system.open_folder(Path("C:/data"), "win32")
    assert shown == [Path("C:/data")]


def test_without_a_screen_there_is_no_tray_and_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if sys.platform == "linux":
        assert "no screen" in system.why_no_tray()
        assert not system.open_address("http://127.0.0.1:1/")
    assert system.has_screen("win32", {})
    assert system.has_screen("linux", {"WAYLAND_DISPLAY": "wayland-0"})


@pytest.mark.skipif(sys.platform != "linux", reason="GTK's bindings are the system's on Linux only")
def test_gtks_bindings_are_taken_from_the_system_only_where_they_fit_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    other, fits = tmp_path / "other", tmp_path / "fits"
    for folder, suffix in ((other, ".cpython-39-other.so"), (fits, sysconfig.get_config_var("EXT_SUFFIX"))):
        (folder / "gi").mkdir(parents=True)
        (folder / "gi" / f"_gi{suffix}").touch()
    system.add_system_gtk([other])
    assert str(other) not in sys.path
    system.add_system_gtk([other, fits])
    assert sys.path[-1] == str(fits)

"""The app for macOS, as far as it can be looked at without a Mac: its structure, and that what a double click starts installs and starts."""

from __future__ import annotations

import io
import json
import plistlib
import shutil
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from lean_memory_bridge.autostart import autostart_of
from lean_memory_installers.icons import write_icns
from lean_memory_installers.macos import APP, UNINSTALL, archive_app, unpacked_python, write_app
from lean_memory_setup.payload import Payload

SOURCE = Path(__file__).parents[3]
PYTHON = """#!/bin/sh
# Stands for the interpreter: notes what it was told, and for `setup.pyz install` makes the environment, whose interpreter is this one again.
printf '%s\\n' "$*" >>"$TOLD"
case "$*" in
*broken*) echo "The installer is damaged." >&2; exit 1 ;;
*" uninstall "*) ;;
*" install "*) mkdir -p "$LEAN_MEMORY_HOME/env/bin"; cp "$0" "$LEAN_MEMORY_HOME/env/bin/python" ;;
esac
"""


@pytest.fixture(scope="module")
def icon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drawn = tmp_path_factory.mktemp("icon") / "lean-memory.icns"
    write_icns(drawn)
    return drawn


@pytest.fixture
def app(tmp_path: Path, icon: Path) -> Path:
    folder = tmp_path / "payload"
    folder.mkdir()
    (folder / "payload.json").write_text('{"version": "1.2.3"}')
    payload = Payload(folder=folder, version="1.2.3", target="macos-arm64", pythons=("3.13",), uv="uv", files=(), digest="0" * 64)
    python = tmp_path / "cpython"
    (python / "bin").mkdir(parents=True)
    (python / "bin" / "python3.13").write_text(PYTHON)
    (python / "bin" / "python3.13").chmod(0o755)
    (python / "bin" / "python3").symlink_to("python3.13")
    return write_app(payload, source=SOURCE, folder=tmp_path / "made", icon=icon, python=python)


def started(app: Path, tmp_path: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    told = tmp_path / "told"
    environ = {"HOME": str(tmp_path), "LEAN_MEMORY_HOME": str(tmp_path / "Application Support"), "TOLD": str(told), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(app / "Contents" / "MacOS" / "lean-memory"), *words], env=environ, capture_output=True, text=True, check=False
    )
    lines = told.read_text().splitlines() if told.exists() else []
    told.unlink(missing_ok=True)
    return done, lines


def test_the_app_lives_in_the_menu_bar_on_apple_silicon_and_owns_its_bundles(app: Path) -> None:
    about = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    assert (about["LSUIElement"], about["LSMinimumSystemVersion"], about["LSArchitecturePriority"]) == (True, "14.0", ["arm64"])
    assert about["CFBundleShortVersionString"] == "1.2.3"
    program = app / "Contents" / "MacOS" / about["CFBundleExecutable"]
    assert program.stat().st_mode & stat.S_IXUSR
    [kind] = about["UTExportedTypeDeclarations"]
    assert kind["UTTypeTagSpecification"]["public.filename-extension"] == ["leanmem"]
    assert about["CFBundleDocumentTypes"][0]["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]


def test_its_icon_has_every_size_that_macos_shows(app: Path) -> None:
    with Image.open(app / "Contents" / "Resources" / "lean-memory.icns") as icon:
        sizes = {width * scale for width, _, scale in icon.info["sizes"]}
    assert sizes >= {32, 64, 128, 256, 512, 1024}


def test_the_archive_keeps_modes_and_links_and_is_the_same_bytes_each_time(app: Path, tmp_path: Path) -> None:
    archives = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for archive in archives:
        archive_app(app.parent, archive, 1_700_000_000)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with zipfile.ZipFile(archives[0]) as held:
        modes = {entry.filename: entry.external_attr >> 16 for entry in held.infolist()}
    assert modes[f"{APP}/Contents/MacOS/lean-memory"] == stat.S_IFREG | 0o755
    assert modes[UNINSTALL] == stat.S_IFREG | 0o755
    assert modes[f"{APP}/Contents/Info.plist"] == stat.S_IFREG | 0o644
    assert stat.S_ISLNK(modes[f"{APP}/Contents/Resources/python/bin/python3"])


def test_the_first_start_makes_the_environment_and_a_later_one_only_starts(app: Path, tmp_path: Path) -> None:
    home = tmp_path / "Application Support"
    _, first = started(app, tmp_path)
    own = home / "python" / "1.2.3-000000000000" / "bin" / "python3"
    payload = app / "Contents" / "Resources" / "payload"
    assert first == [
        f"-I {payload}/setup.pyz install --home {home} --python {own} --data {tmp_path}/.lean_memory",
        "-P -m lean_memory_desktop --window",
    ]
    _, second = started(app, tmp_path, "--at-login")
    assert second == ["-P -m lean_memory_desktop --at-login"]


def test_a_newer_app_brings_the_environment_up_to_date(app: Path, tmp_path: Path) -> None:
    started(app, tmp_path)
    (app / "Contents" / "Resources" / "payload" / "payload.json").write_text(json.dumps({"version": "1.2.4"}))
    _, told = started(app, tmp_path)
    assert " install --home " in told[0]
    assert started(app, tmp_path)[1] == ["-P -m lean_memory_desktop --window"]


def test_a_damaged_app_says_so_installs_nothing_and_lets_an_earlier_version_go_on(app: Path, tmp_path: Path) -> None:
    damaged = app.rename(app.with_name("broken.app"))
    done, _ = started(damaged, tmp_path)
    assert (done.returncode, "nothing was changed. The installer is damaged." in done.stderr) == (1, True)
    started(damaged.rename(app), tmp_path)
    shutil.move(app, damaged)
    (damaged / "Contents" / "Resources" / "payload" / "payload.json").write_text("{}")
    done, told = started(damaged, tmp_path)
    assert "the earlier one goes on" in done.stderr
    assert told[-1] == "-P -m lean_memory_desktop --window"


def test_an_app_without_a_python_says_so_where_it_cannot_fetch_one(tmp_path: Path, icon: Path) -> None:
    folder = tmp_path / "payload"
    folder.mkdir()
    (folder / "uv").write_text("#!/bin/sh\necho 'no route' >&2\nexit 2\n")
    (folder / "uv").chmod(0o755)
    payload = Payload(folder=folder, version="1", target="macos-arm64", pythons=("3.13",), uv="uv", files=(), digest="0" * 64)
    done, told = started(write_app(payload, source=SOURCE, folder=tmp_path / "made", icon=icon), tmp_path)
    assert (done.returncode, told) == (1, [])
    assert "nothing was changed. no route\nThis app brings no Python, and it could not be fetched." in done.stderr


def test_the_python_of_the_app_is_taken_out_of_the_archive_that_was_meant(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "cpython.tar.gz", "w:gz") as into:
        held = tarfile.TarInfo("python/bin/python3.13")
        held.mode, held.size = 0o755, 2
        into.addfile(held, io.BytesIO(b"#!"))
        link = tarfile.TarInfo("python/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, "python3.13"
        into.addfile(link)
    folder = unpacked_python(tmp_path / "cpython.tar.gz", tmp_path / "work" / "python")
    assert (folder / "bin" / "python3").readlink() == Path("python3.13")
    assert (folder / "bin" / "python3").stat().st_mode & stat.S_IXUSR
    assert list(folder.parent.iterdir()) == [folder]
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz"):
        pass
    with pytest.raises(ValueError, match="no Python"):
        unpacked_python(tmp_path / "other.tar.gz", folder)


def test_the_uninstaller_leaves_memories_unless_it_is_told_otherwise(app: Path, tmp_path: Path) -> None:
    uninstaller = app.parent / UNINSTALL
    for word, forgets in (("", False), ("--forget-memories", True)):
        started(app, tmp_path)
        told, home = tmp_path / "told", tmp_path / "Application Support"
        (home / ".lock").touch()
        environ = {"HOME": str(tmp_path), "LEAN_MEMORY_HOME": str(home), "TOLD": str(told), "PATH": "/usr/bin:/bin"}
        words = [str(uninstaller), *([word] if word else [])]
        subprocess.run(words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        [line] = told.read_text().splitlines()
        told.unlink()
        assert line.startswith(f"-I {home}/setup.pyz uninstall --home {home} --data {tmp_path}/.lean_memory")
        assert line.endswith("--forget-memories") is forgets
        assert {path.name for path in home.iterdir()} == {"env"}, "the setup program takes the rest, which here is a stand-in"


def test_the_launch_agent_starts_the_environment_by_the_path_that_stays(tmp_path: Path) -> None:
    python = tmp_path / "Library" / "Application Support" / "Lean Memory" / "env" / "bin" / "python"
    agent = autostart_of(tmp_path / "data", platform="darwin", home=tmp_path, executable=str(python))
    agent.turn_on()
    [file] = (tmp_path / "Library" / "LaunchAgents").iterdir()
    said = plistlib.loads(file.read_bytes())
    assert said["ProgramArguments"][0] == str(python)
    assert said["ProgramArguments"][-1] == "--at-login"
    assert said["RunAtLoad"] is True

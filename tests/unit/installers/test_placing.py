"""What an installation for one person puts outside its folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lean_memory_installers.linux import build_bundle
from lean_memory_setup.__main__ import main
from lean_memory_setup.installing import Outcome
from lean_memory_setup.payload import FILE, read_payload
from lean_memory_setup.placing import COMMANDS, UNINSTALL, place, remove_placed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it is for Linux")


def test_what_was_placed_goes_again_but_for_what_somebody_else_put_there_since(tmp_path: Path) -> None:
    payload, home, prefix = tmp_path / "payload", tmp_path / "home", tmp_path / "prefix"
    (payload / "share" / "applications").mkdir(parents=True)
    (payload / "share" / "applications" / "app.desktop").write_text("Exec=@BIN@/lean-memory")
    home.mkdir()
    place(payload, home, prefix)
    entry, commands = prefix / "share" / "applications" / "app.desktop", prefix / "bin"
    assert entry.read_text() == f"Exec={commands}/lean-memory"
    assert (commands / "lean-memory").readlink() == home / "env" / "bin" / "lean-memory"
    (commands / "lean-memory").unlink()
    (commands / "lean-memory").write_text("of pip")
    (commands / "lean-memory-mcp").unlink()
    (commands / "lean-memory-mcp").symlink_to(tmp_path / "pipx")
    remove_placed(home)
    assert not entry.exists()
    assert sorted(path.name for path in commands.iterdir()) == ["lean-memory", "lean-memory-mcp"]
    assert not (commands / UNINSTALL).exists()


def test_the_lists_that_the_desktop_made_go_with_the_last_thing_that_is_on_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    payload, home, prefix, programs = tmp_path / "payload", tmp_path / "home", tmp_path / "prefix", tmp_path / "programs"
    for file in ("applications/ours.desktop", "mime/packages/ours.xml", "icons/hicolor/16x16/apps/ours.png"):
        (payload / "share" / file).parent.mkdir(parents=True)
        (payload / "share" / file).touch()
    for folder in (home, programs):
        folder.mkdir()
    # Stand for the desktop's programs: they write their lists whatever there is.
    for name, listed in (("update-desktop-database", "mimeinfo.cache"), ("update-mime-database", "globs2")):
        (programs / name).write_text(f'#!/bin/sh\n: > "$1/{listed}"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    place(payload, home, prefix)
    assert (prefix / "share" / "mime" / "globs2").exists()
    remove_placed(home)
    assert list((prefix / "share").iterdir()) == []

    (prefix / "share" / "applications").mkdir()
    (prefix / "share" / "applications" / "theirs.desktop").touch()
    place(payload, home, prefix)
    remove_placed(home)
    left = sorted(path.name for path in (prefix / "share").rglob("*"))
    assert left == ["applications", "mimeinfo.cache", "theirs.desktop"]


def test_a_command_of_somebody_else_keeps_its_place_and_the_menu_starts_ours(tmp_path: Path) -> None:
    payload, home, prefix = tmp_path / "payload", tmp_path / "home", tmp_path / "prefix"
    (payload / "share" / "applications").mkdir(parents=True)
    (payload / "share" / "applications" / "app.desktop").write_text("Exec=@BIN@/lean-memory")
    home.mkdir()
    (prefix / "bin").mkdir(parents=True)
    theirs = prefix / "bin" / "lean-memory"
    theirs.write_text("of pip")
    assert place(payload, home, prefix) == [theirs]
    assert place(payload, home, prefix) == [theirs]
    assert theirs.read_text() == "of pip"
    entry = prefix / "share" / "applications" / "app.desktop"
    assert entry.read_text() == f"Exec={home}/env/bin/lean-memory"
    remove_placed(home)
    assert list((prefix / "bin").iterdir()) == [theirs]
    assert list(home.iterdir()) == []


def test_what_was_placed_before_a_failure_goes_again(tmp_path: Path) -> None:
    payload, home, prefix = tmp_path / "payload", tmp_path / "home", tmp_path / "prefix"
    (payload / "share" / "icons").mkdir(parents=True)
    (payload / "share" / "icons" / "app.png").touch()
    home.mkdir()
    prefix.mkdir()
    (prefix / "share").write_text("no folder")
    with pytest.raises(OSError, match="share"):
        place(payload, home, prefix)
    assert (prefix / "bin" / "lean-memory").is_symlink()
    (prefix / "share").unlink()
    remove_placed(home)
    assert list((prefix / "bin").iterdir()) == []


def test_a_program_that_is_in_use_is_installed_even_where_its_commands_cannot_be_placed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    payload, home, prefix = empty_payload(tmp_path / "payload"), tmp_path / "home", tmp_path / "prefix"
    prefix.write_text("no folder")
    monkeypatch.setattr("lean_memory_setup.__main__.install", installed)
    words = ["install", "--home", str(home), "--payload", str(payload), "--place", str(prefix), "--data", str(tmp_path / "none")]
    assert main(words) == 0
    told = capfd.readouterr().out
    assert f"Start Lean Memory with {home}/env/bin/{COMMANDS[0]}." in told
    assert "Lean Memory 1: installed." in told


def test_the_bundle_unpacks_beside_its_target_where_programs_may_be_started(tmp_path: Path) -> None:
    payload, home, away = empty_payload(tmp_path / "payload"), tmp_path / "target" / "home", tmp_path / "away"
    (payload / "setup.pyz").write_text(f"import sys; open({str(tmp_path / 'ran')!r}, 'w').write(sys.argv[0])")
    project = Path(__file__).parents[3]
    bundle = build_bundle(read_payload(payload), source=project, out=tmp_path, epoch=0)
    words = [bundle, "--no-start", "--home", home, "--prefix", tmp_path / "prefix", "--python", sys.executable]
    # There is no folder for temporary files at all.
    done = subprocess.run(words, env={**os.environ, "TMPDIR": str(away)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Start it with: {home}/env/bin/lean-memory\n"
    assert Path((tmp_path / "ran").read_text()).parents[1] == home.parent
    assert list(home.parent.iterdir()) == []


def installed(*given: object) -> Outcome:
    del given
    return Outcome.INSTALLED


def empty_payload(folder: Path) -> Path:
    folder.mkdir()
    (folder / FILE).write_text(json.dumps({"version": "1", "target": "any", "pythons": ["3.11"], "uv": "uv", "files": []}))
    return folder

"""What an installation for one person puts outside its folder on Linux: commands, menu entries, icons, file types. Each is noted and goes again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lean_memory_setup.asking import bare_environment

NOTE = "placed.json"
SHARED = "share"
"""The folder of a payload with what belongs below `share`; `@BIN@` in a menu entry stands for the folder of the commands."""
COMMANDS = ("lean-memory", "lean-memory-mcp", "lean-memory-maintain")
BRING_IN = "lean-memory-bring-in"
UNINSTALL = "lean-memory-uninstall"
_BIN = b"@BIN@"
_LISTS = (("update-desktop-database", "applications"), ("update-mime-database", "mime"))


def place(payload: Path, home: Path, prefix: Path) -> None:
    """Put what `payload` has to offer below `prefix`. Raises `OSError`."""
    remove_placed(home)
    placed = [*_share(payload / SHARED, prefix), *_commands(home, prefix)]
    if (payload / BRING_IN).exists():
        shutil.copy(payload / BRING_IN, home / BRING_IN)
        placed += [home / BRING_IN, _linked(prefix / "bin" / BRING_IN, home / BRING_IN)]
    (home / NOTE).write_text(json.dumps([str(path) for path in placed]), encoding="utf-8")
    _tell_desktop(prefix)


def remove_placed(home: Path) -> None:
    """Take away what was placed, where it is still ours. Raises `OSError`."""
    try:
        placed = [Path(path) for path in json.loads((home / NOTE).read_bytes())]
    except (OSError, ValueError):
        return
    for path in placed:
        if _is_ours(path, home):
            path.unlink(missing_ok=True)
    (home / NOTE).unlink()
    for prefix in {path.parent.parent for path in placed if path.parent.name == "bin"}:
        _tell_desktop(prefix)


def _is_ours(path: Path, home: Path) -> bool:
    """Whether nobody has put something else there, as another way of installing does with a command."""
    if path.is_symlink():
        return path.readlink().is_relative_to(home)
    return path.parent.name != "bin" or path.name == UNINSTALL


def _share(source: Path, prefix: Path) -> Iterator[Path]:
    for file in sorted(source.rglob("*")):
        if file.is_dir():
            continue
        target = prefix / "share" / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        held = file.read_bytes()
        target.write_bytes(held.replace(_BIN, str(prefix / "bin").encode()) if target.suffix == ".desktop" else held)
        yield target


def _commands(home: Path, prefix: Path) -> Iterator[Path]:
    folder = prefix / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for command in COMMANDS:
        yield _linked(folder / command, home / "env" / "bin" / command)
    script = folder / UNINSTALL
    script.unlink(missing_ok=True)
    program, folder_of = _quoted(str(home / "setup.pyz")), _quoted(str(home))
    script.write_text(f'#!/bin/sh\nexec {_quoted(sys.executable)} -I {program} uninstall --home {folder_of} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    yield script


def _linked(link: Path, target: Path) -> Path:
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    return link


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _tell_desktop(prefix: Path) -> None:
    """Let the desktop look again. Where its programs are missing it does so at the next login."""
    for program, folder in _LISTS:
        found, target = shutil.which(program), prefix / "share" / folder
        if found and target.is_dir():
            subprocess.run([found, str(target)], env=bare_environment(), capture_output=True, timeout=60, check=False)

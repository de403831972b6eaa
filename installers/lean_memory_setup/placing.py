"""What an installation for one person puts outside its folder on Linux: commands, menu entries, icons, file types. Each is noted and goes again."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from lean_memory_setup.asking import bare_environment

NOTE = "placed.json"
SHARED = "share"
"""The folder of a payload with what belongs below `share`; `@BIN@` in a menu entry stands for the folder of the commands."""
COMMANDS = ("lean-memory", "lean-memory-mcp", "lean-memory-maintain")
BRING_IN = "lean-memory-bring-in"
UNINSTALL = "lean-memory-uninstall"
_PROGRAM = re.compile(rb"@BIN@/([a-z-]+)")
_LISTS = (("update-desktop-database", "applications"), ("update-mime-database", "mime"))
_LISTED = {
    "applications": ("mimeinfo.cache",),
    "mime": (
        "XMLnamespaces", "aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic", "types",
        "version",
    ),
}  # fmt: skip
"""What those programs write into each folder from what lies there."""


def place(payload: Path, home: Path, prefix: Path) -> list[Path]:
    """Put what `payload` has to offer below `prefix`. The commands of somebody else that keep their place there are what it gives; the menu
    entries start ours all the same. Raises `OSError`; what was placed until then goes with the next `place` or `remove_placed`.
    """
    remove_placed(home)
    commands = _commands(payload, home, prefix)
    theirs = [link for link in commands if _is_of_others(link, home)]
    ours = {link: target for link, target in commands.items() if link not in theirs}
    share = {prefix / SHARED / file.relative_to(payload / SHARED): file for file in _files(payload / SHARED)}
    noted = [*share, home / UNINSTALL, *ours, *([home / BRING_IN] if (payload / BRING_IN).exists() else [])]
    # Before the first of them is there, so that whatever happens in between nothing stays for ever.
    (home / NOTE).write_text(json.dumps([str(path) for path in noted]), encoding="utf-8")
    _write_uninstall(home)
    if (payload / BRING_IN).exists():
        shutil.copy(payload / BRING_IN, home / BRING_IN)
    for link, target in ours.items():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    for target, file in share.items():
        _put(target, file, {link.name: commands[link] if link in theirs else link for link in commands})
    _tell_desktop(prefix)
    return theirs


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
        for name, written in _LISTED.items():
            _drop_empty_lists(prefix / SHARED / name, written)
        _drop_empty_folders(prefix / SHARED, placed)


def _drop_empty_lists(folder: Path, written: Collection[str]) -> None:
    """Remove the lists of a folder in which nothing is left that could be on them."""
    listed = [folder / name for name in written]
    if all(file in listed for file in _files(folder)):
        for file in listed:
            file.unlink(missing_ok=True)


def _drop_empty_folders(top: Path, placed: Sequence[Path]) -> None:
    for folder in sorted({parent for path in placed for parent in path.parents if top in parent.parents}, reverse=True):
        # One in which something is left stays.
        with contextlib.suppress(OSError):
            folder.rmdir()


def _is_ours(path: Path, home: Path) -> bool:
    """Whether nobody has put something else there, as another way of installing does with a command."""
    if path.is_symlink():
        return path.readlink().is_relative_to(home)
    return path.parent.name != "bin" or path.name == UNINSTALL


def _is_of_others(link: Path, home: Path) -> bool:
    """Whether what lies there was not put there by this installation."""
    return os.path.lexists(link) and not (link.is_symlink() and link.readlink().is_relative_to(home))


def _commands(payload: Path, home: Path, prefix: Path) -> dict[Path, Path]:
    """The commands below `prefix`, and what each leads to."""
    held = {name: home / "env" / "bin" / name for name in COMMANDS} | {UNINSTALL: home / UNINSTALL}
    if (payload / BRING_IN).exists():
        held[BRING_IN] = home / BRING_IN
    return {prefix / "bin" / name: target for name, target in held.items()}


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if not file.is_dir())


def _put(target: Path, file: Path, programs: Mapping[str, Path]) -> None:
    """Copy a file; a menu entry names its program where it lies."""
    held = file.read_bytes()
    if target.suffix == ".desktop":
        held = _PROGRAM.sub(lambda found: os.fsencode(programs[found[1].decode()]), held)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(held)


def _write_uninstall(home: Path) -> None:
    words = f"{_quoted(sys.executable)} -I {_quoted(str(home / 'setup.pyz'))} uninstall --home {_quoted(str(home))}"
    (home / UNINSTALL).write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    (home / UNINSTALL).chmod(0o755)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _tell_desktop(prefix: Path) -> None:
    """Let the desktop look again. Where its programs are missing it does so at the next login."""
    for program, folder in _LISTS:
        found, target = shutil.which(program), prefix / "share" / folder
        if found and target.is_dir():
            subprocess.run([found, str(target)], env=bare_environment(), capture_output=True, timeout=60, check=False)

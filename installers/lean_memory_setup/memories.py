"""The memories of an upgrade: backed up by the old program, brought to the new one's form, and back again where that fails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lean_memory_setup.asking import run

_PATIENCE = 3600.0
_FILES = "*.memory.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A backup of one data root."""

    root: Path
    backup: str


def with_memories(roots: Sequence[Path]) -> list[Path]:
    """The data roots that hold any."""
    return [root for root in roots if root.is_dir() and next(root.glob(_FILES), None) is not None]


def backed_up(python: Path, roots: Sequence[Path]) -> list[Kept]:
    """Back up each data root with the program of `python`. Raises `SetupError`."""
    return [Kept(root=root, backup=_backup(python, root)) for root in with_memories(roots)]


def migrated(python: Path, roots: Sequence[Path]) -> None:
    """Let the program of `python` open every namespace, which brings it to its form. Raises `SetupError` where one cannot be opened."""
    for root in with_memories(roots):
        _asked(python, root, "namespaces", why=f"The memories in {root} cannot be opened by the new version")
        _asked(python, root, "status", why=f"The memories in {root} cannot be opened by the new version")


def restored(python: Path, kept: Sequence[Kept]) -> None:
    """Bring back what was backed up, with the program that made the backups. Raises `SetupError`."""
    for one in kept:
        why = f"The memories in {one.root} could not be put back; they are whole in {one.backup}"
        _asked(python, one.root, "restore", one.backup, "--yes", why=why)


def _backup(python: Path, root: Path) -> str:
    said = _asked(python, root, "backup", "--json", why=f"The memories in {root} cannot be backed up")
    return str(json.loads(said)["path"])


def _asked(python: Path, root: Path, *words: str, why: str) -> str:
    return run([python, "-P", "-m", "lean_memory_desktop", "--root", root, *words], why=why, patience=_PATIENCE)

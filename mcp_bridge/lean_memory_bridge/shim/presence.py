"""Which shims live: each holds a lock on a file of its own, and the system lets go of it however the shim ends."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path

from lean_memory.only_one import only_one

PRESENCE_FOLDER = "present"


@contextlib.contextmanager
def present(root: Path) -> Generator[None]:
    """Be counted among the live shims of a data root while the block runs."""
    # Of a path that is made at once, only the last folder gets the mode.
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    counted = False
    while not counted:
        path = root / PRESENCE_FOLDER / f"{os.getpid()}-{secrets.token_hex(6)}"
        with only_one(path) as mine:
            # Whoever counted just now may have taken our file for a dead one's.
            counted = mine and path.exists()
            if counted:
                try:
                    yield
                finally:
                    _unlink_held(path)
        _unlink_free(path)


def how_many(root: Path) -> int:
    """How many shims live; what dead ones left is swept away."""
    folder = root / PRESENCE_FOLDER
    return sum(1 for path in (folder.iterdir() if folder.is_dir() else ()) if _is_held(path))


def _is_held(path: Path) -> bool:
    with only_one(path) as dead:
        if dead:
            _unlink_held(path)
    if dead:
        _unlink_free(path)
    return not dead


def _unlink_held(path: Path) -> None:
    """Take a file away whose lock we hold, so that nobody can get it in between. Windows does not allow that."""
    if os.name == "posix":
        path.unlink(missing_ok=True)


def _unlink_free(path: Path) -> None:
    """Take a file away that nobody has open; Windows itself refuses where somebody has."""
    if os.name != "posix":
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

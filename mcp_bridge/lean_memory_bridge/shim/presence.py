"""Which shims live: each holds a lock on a file of its own, and the system lets go of it however the shim ends."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path

from lean_memory_bridge.only_one import only_one

PRESENCE_FOLDER = "present"


@contextlib.contextmanager
def present(root: Path) -> Generator[None]:
    """Be counted among the live shims of a data root while the block runs."""
    while True:
        path = root / PRESENCE_FOLDER / f"{os.getpid()}-{secrets.token_hex(6)}"
        with only_one(path) as mine:
            # Whoever counted just now may have taken our file for a dead one's.
            if mine and path.exists():
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return


def how_many(root: Path) -> int:
    """How many shims live; what dead ones left is swept away."""
    count = 0
    folder = root / PRESENCE_FOLDER
    for path in folder.iterdir() if folder.is_dir() else ():
        with only_one(path) as dead:
            if dead:
                path.unlink(missing_ok=True)
            else:
                count += 1
    return count

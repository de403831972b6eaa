"""One process at a time fetches, checks or removes models; the system lets go of the lock however that process ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

from lean_memory.models.installed import private_folder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextlib.contextmanager
def alone(path: Path) -> Generator[bool]:
    """Gives whether this process now holds the lock on `path`, while the block runs. Does not wait; the file stays."""
    private_folder(path.parent)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb+") as file:
        yield _taken(file.fileno())


def is_held(path: Path) -> bool:
    """Whether some process holds the lock. Makes no file."""
    try:
        with path.open("rb+") as file:
            return not _taken(file.fileno())
    except OSError:
        return False


def _taken(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

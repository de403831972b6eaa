"""A lock that one process at a time holds; the system lets go of it when the process ends, however it ends. Standard library alone."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextlib.contextmanager
def only_one(path: Path) -> Generator[bool]:
    """Gives whether this process now holds the lock on `path`, until the block ends. Does not wait; the file stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.set_inheritable(handle, False)
        yield locked(handle)
    finally:
        os.close(handle)


def locked(handle: int) -> bool:
    """Whether this process now holds the lock on an open file. Does not wait; closing the file lets go of it."""
    try:
        if sys.platform == "win32":
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

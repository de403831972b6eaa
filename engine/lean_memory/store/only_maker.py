"""A lock on making the vectors of one namespace, held by one thread of one process at a time.

The system lets go of it however the process ends. It stands in a file of its own beside the namespace's, which nobody waits for and
which holds nothing, so that additions and searches do not know of it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

from lean_memory.only_one import locked
from lean_memory.store.connection import errors_translated

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_END = "-vectors"


@contextlib.contextmanager
def only_maker(path: Path) -> Generator[bool]:
    """Gives whether the vectors of the namespace whose file is at `path` are this block's to make. Does not wait. Raises `StorageError`."""
    lock = path.with_name(path.name + _END)
    with errors_translated(lock):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.set_inheritable(handle, False)
        mine = locked(handle) and _is_at(handle, lock)
        try:
            yield mine
        finally:
            if mine:
                _let_go(handle, lock)
    finally:
        os.close(handle)


def remove_lock(path: Path) -> None:
    """Remove what a killed process left of its lock on a namespace that is gone."""
    with contextlib.suppress(OSError):
        path.with_name(path.name + _END).unlink(missing_ok=True)


def _is_at(handle: int, lock: Path) -> bool:
    """Whether the file is still the one at its path: whoever held it before may have removed it since it was opened."""
    try:
        return os.path.samestat(os.fstat(handle), lock.stat())
    except FileNotFoundError:
        return False


def _let_go(handle: int, lock: Path) -> None:
    """Remove the file while it is locked, so that nobody locks one that is gone; Windows removes no open file, and keeps it."""
    if sys.platform == "win32":
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        return
    lock.unlink(missing_ok=True)
    # A child that was forked meanwhile has the same lock.
    fcntl.flock(handle, fcntl.LOCK_UN)

"""One setup program at a time for an installation."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any

from lean_memory_setup.failing import SetupError


@contextlib.contextmanager
def alone(file: Path) -> Generator[None]:
    """Hold `file` while the block runs. Raises `SetupError` where another process does; the system lets go of it when we die."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as held:
        try:
            _lock(held.fileno())
        except OSError as error:
            raise SetupError("Lean Memory is being installed or removed at this moment. Wait until that is done.") from error
        yield


def _lock(number: int) -> None:
    if sys.platform == "win32":
        windows: Any = import_module("msvcrt")
        windows.locking(number, windows.LK_NBLCK, 1)
    else:
        posix: Any = import_module("fcntl")
        posix.flock(number, posix.LOCK_EX | posix.LOCK_NB)

"""One setup program at a time for an installation, and nobody who starts a service out of a program that is being replaced."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any

from lean_memory_setup.failing import SetupError

LOCK = ".lock"
SWITCHING = ".switching"
"""The file whose lock the installed program looks at before it starts a service (`lean_memory_bridge.updating`)."""
PATIENCE = 10.0
"""Seconds; whoever starts a service holds it for the moment in which a process begins."""
_LOOK = 0.02


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


@contextlib.contextmanager
def nobody_starts(home: Path, patience: float = PATIENCE) -> Generator[None]:
    """Let nobody start a service of the installation in `home` while the block runs; the system lets go of that when we die.

    Whoever holds the lock longer than anybody needs does not keep the program from being replaced.
    """
    with allow_to_look(home).open("ab") as held:
        deadline = time.monotonic() + patience
        while not _is_held(held.fileno()) and time.monotonic() < deadline:
            time.sleep(_LOOK)
        yield


def allow_to_look(home: Path) -> Path:
    """The file of that lock, which every person who may start the program may look at."""
    file = home / SWITCHING
    file.touch()
    file.chmod(0o644)
    return file


def _is_held(number: int) -> bool:
    """Whether we hold an open file now."""
    try:
        _lock(number)
    except OSError:
        return False
    return True


def _lock(number: int) -> None:
    if sys.platform == "win32":
        windows: Any = import_module("msvcrt")
        windows.locking(number, windows.LK_NBLCK, 1)
    else:
        posix: Any = import_module("fcntl")
        posix.flock(number, posix.LOCK_EX | posix.LOCK_NB)

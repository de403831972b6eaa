"""One process at a time fetches, checks or removes models; the system lets go of the lock however that process ends."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path

from lean_memory.only_one import locked, only_one
from lean_memory.private_files import private_folder


@contextlib.contextmanager
def alone(path: Path) -> Generator[bool]:
    """Gives whether this process now holds the lock on `path`, while the block runs. Does not wait; the file stays."""
    private_folder(path.parent)
    with only_one(path) as mine:
        yield mine


def is_held(path: Path) -> bool:
    """Whether some process holds the lock. Makes no file."""
    try:
        with path.open("rb+") as file:
            return not locked(file.fileno())
    except OSError:
        return False

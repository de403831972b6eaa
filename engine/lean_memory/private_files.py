"""Small files for their owner's eyes only, put in place whole or not at all. The standard library alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

UPLOADS = "uploads"
"""The folder of the data root in which a service keeps, for a while, what is to be brought in."""


def private_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone."""
    # `parents=True` would make the upper ones for everybody.
    for folder in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)


def replace_private(path: Path, text: str) -> None:
    """Put `text` at `path`, in the place of what was there; it is on the disk before anybody sees it. Raises `OSError`."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        write_new(fresh, text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_new(path: Path, text: str) -> None:
    """Make a file that is not there yet. Raises `FileExistsError`, `OSError`."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())

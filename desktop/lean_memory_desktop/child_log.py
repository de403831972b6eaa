"""The logs of child processes: the child writes, its keeper sees to it that they stay short. What was before is in a second file beside it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import IO

LARGEST = 1_000_000
"""Bytes after which a log is begun anew."""


def opened(log: Path) -> IO[bytes]:
    """A log to give to a child that is being started. Raises `OSError`."""
    log.parent.mkdir(mode=0o700, exist_ok=True)
    # On a full disk a child is not kept from starting by what was before.
    with contextlib.suppress(OSError):
        _begin_anew_if_long(log)
    return log.open("ab")


def kept_short(log: Path) -> None:
    """The same for a log that a child is writing. Nothing is done where the system cannot, or the disk has no room for what was before."""
    # A child on Windows goes on where it was in the file, and would leave a hole before it.
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            _begin_anew_if_long(log)


def _begin_anew_if_long(log: Path) -> None:
    if log.exists() and log.stat().st_size > LARGEST:
        # Copied and cut instead of renamed, as whoever writes keeps the file that it was given.
        shutil.copy(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)

"""An update of the installed program: while the setup program puts another one into its place, nobody starts a service out of either.

The setup program holds a lock in the folder of the installation, beside the environment in use (`nobody_starts` in
`installers/lean_memory_setup/one_at_a_time.py`). The system lets go of it when the setup program ends, however it ends: the file stays and means nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Generator
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = ".switching"
UPDATING = "Lean Memory is being updated or removed at this moment."

_HELD = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})
"""What the systems say of a lock that somebody else holds; anything else means that there are no locks on this disk."""


@contextlib.contextmanager
def settled(environment: Path = Path(sys.prefix)) -> Generator[bool]:
    """Gives whether nobody is putting another program into the place of `environment`; where so, nobody begins to while the block runs."""
    try:
        handle = os.open(environment.parent / LOCK, os.O_RDONLY)
    except OSError:
        # The setup program did not put this program here.
        yield True
        return
    try:
        yield not _held_by_another(handle)
    finally:
        os.close(handle)


def _held_by_another(handle: int) -> bool:
    """Whether the setup program holds the lock; otherwise it cannot have it before we let go of it."""
    try:
        if sys.platform == "win32":
            # The only kind there is: of two that look at the same moment, one looks again.
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _HELD
    return False

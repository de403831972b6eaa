"""What keeps running, started while the program is being brought up to date: it waits for the end of that and begins anew, as the program that is there then."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import NoReturn

from lean_memory_bridge.updating import UPDATING, settled
from lean_memory_desktop.cli.console import complain

_LOOK = 0.2


def wait_for_update() -> None:
    """Do nothing where nobody puts another program into our place; otherwise wait until that is done and do not come back. Raises `OSError`."""
    if _is_settled():
        return
    complain(f"{UPDATING} It starts as soon as that is done.")
    tick = threading.Event()
    while not _is_settled():
        tick.wait(_LOOK)
    _begin_anew()


def _is_settled() -> bool:
    with settled() as so:
        return so


def _begin_anew() -> NoReturn:
    """Start the interpreter by the path that stays, which leads to the new program by now, with the words we were started with."""
    words = [sys.executable, *sys.orig_argv[1:]]
    if sys.platform == "win32":
        # What replaces a process there has another number, and a terminal would not wait for it.
        sys.exit(subprocess.run(words, check=False).returncode)
    sys.stderr.flush()
    os.execv(sys.executable, words)

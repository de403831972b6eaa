"""What a keeper tells a process that it started, line by line; and that the process goes once its keeper says no more."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator
from typing import IO

LONGEST_GOODBYE = 2.0
"""Seconds."""


def followed(lines: IO[str], patience: float = LONGEST_GOODBYE) -> Iterator[str]:
    """The orders, as they come. Once there are no more this process has `patience` seconds to end in good order, then it ends all the same.

    A web engine may be starting then, or wait for an answer that never comes, and nothing of it may outlive the tray.
    """
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in lines:
            waiting.put(line.strip())
        waiting.put(None)
        threading.Event().wait(patience)
        leave(0)

    threading.Thread(target=read, name="orders", daemon=True).start()
    return iter(waiting.get, None)


def leave(code: int) -> None:
    """End this process at once, also where some thread of a library never ends."""
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)

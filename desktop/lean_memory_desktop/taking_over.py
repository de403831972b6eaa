"""Becoming the one supervisor of a data root, also where one without a tray is at work: it is asked to leave, and its clients do not notice."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator
from pathlib import Path

from lean_memory.errors import LeanMemoryError
from lean_memory_desktop import instance

PATIENCE = 45.0
"""Seconds; a service that is told to end may finish what it is doing first."""
_ASKED_EVERY = 2.0


@contextlib.contextmanager
def taken_over(root: Path, patience: float = PATIENCE) -> Generator[bool]:
    """Gives whether this process supervises `root` while the block runs; false where the other one does not leave within `patience` seconds."""
    deadline, ask_at, tick = time.monotonic() + patience, 0.0, threading.Event()
    while True:
        with instance.claimed(root) as mine:
            now = time.monotonic()
            if mine or now > deadline:
                yield mine
                return
        if now >= ask_at:
            # Another one may have come in between: a client that missed its service starts one.
            _ask_to_leave(root)
            ask_at = time.monotonic() + _ASKED_EVERY
        tick.wait(0.05)


def _ask_to_leave(root: Path) -> None:
    # Loaded where there is somebody to ask: what starts without has no time to lose.
    from lean_memory_bridge.client import ServiceClient

    # One that is just starting, or that has begun to leave, does not answer: it is asked again.
    with contextlib.suppress(LeanMemoryError):
        service = ServiceClient.find(root)
        if service is not None:
            service.stop()

"""`lean-memory serve` as a process of its own, and waiting for what other processes do."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

from lean_memory_bridge.runtime import Live, find
from support.shim import PATIENCE, environment


def eventually(holds: Callable[[], object], *, patience: float = PATIENCE) -> None:
    """Wait, with a bound, until something that another process does has happened."""
    tick, left = threading.Event(), patience
    while not holds():
        assert left > 0, "it did not happen in time"
        tick.wait(0.02)
        left -= 0.02


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not fetched by its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def has_ended(pid: int) -> bool:
    """Wait until a process that is not our child has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        ready, _, _ = select.select([handle], [], [], PATIENCE)
    finally:
        os.close(handle)
    return bool(ready)


def live(root: Path) -> Live:
    """The service of a data root, once it answers."""
    eventually(lambda: find(root))
    found = find(root)
    assert found is not None
    return found


@contextlib.contextmanager
def running_supervisor(root: Path, *words: str) -> Generator[subprocess.Popen[bytes]]:
    """A supervisor of a data root, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "lean_memory_desktop", "serve", "--root", str(root), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(root),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)

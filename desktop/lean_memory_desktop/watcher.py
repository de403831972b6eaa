"""Follows the service's state for as long as the tray lives, and finds the service again whenever it was away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import LeanMemoryError
from lean_memory_bridge.maintenance_client import MaintenanceClient

if TYPE_CHECKING:
    from lean_memory_bridge.schemas import Snapshot

PAUSE = 3.0
"""Seconds before the service is looked for again after the connection ended."""
FIRST_PAUSE = 0.2
"""The same, until it answered for the first time: it is being started beside us."""


class Watcher:
    """Calls `seen` with each new state and `lost` once whenever the service is away, both in the watcher's own thread."""

    def __init__(
        self,
        find: Callable[[], MaintenanceClient | None],
        *,
        seen: Callable[[Snapshot], None],
        lost: Callable[[], None],
        pause: float = PAUSE,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._find, self._seen, self._lost = find, seen, lost
        self._pause, self._first_pause = pause, first_pause
        self._ended = threading.Event()
        self._has_seen = False

    def start(self) -> None:
        """Begin, in a thread that ends with the process."""
        threading.Thread(target=self.run, name="watcher", daemon=True).start()

    def stop(self) -> None:
        """Call nobody any more. A reading that waits for news is left to the end of the process."""
        self._ended.set()

    def run(self) -> None:
        """Follow until `stop`."""
        was_told = False
        while not self._ended.is_set():
            was_there = self._follow()
            if (was_there or not was_told) and not self._ended.is_set():
                self._lost()
            was_told = True
            self._ended.wait(self._pause if self._has_seen else self._first_pause)

    def _follow(self) -> bool:
        """Read states until the service is away; whether there was any."""
        was_there = False
        try:
            client = self._find()
            for snapshot in client.snapshots() if client is not None else ():
                if self._ended.is_set():
                    break
                was_there = self._has_seen = True
                self._seen(snapshot)
        except (LeanMemoryError, OSError, ValueError):
            # Whatever it was, the service is asked anew; what is wrong with it its supervisor says.
            pass
        return was_there


def finder(root: Path) -> Callable[[], MaintenanceClient | None]:
    """How the service of a data root is found."""
    return lambda: MaintenanceClient.find(root)

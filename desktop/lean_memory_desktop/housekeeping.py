"""Keeps the household running from the tray's first moment on, and tells whoever listens later how that goes."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

from lean_memory_desktop.household import Household
from lean_memory_desktop.supervisor import End

log = logging.getLogger(__name__)
_GOODBYE = 40.0


class Housekeeper:
    """The household of `root` in a thread of its own. The caller holds the supervisor's lock until `stop` has returned."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._household: Household | None = None
        self._ending, self._again = threading.Event(), threading.Event()
        self._reports: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="household", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def reports(self) -> Iterator[str]:
        """Why it cannot be kept running, as a sentence for a person; nothing once that is tried again. Ends when all has ended well."""
        yield from iter(self._reports.get, None)

    def try_again(self) -> None:
        """Start what could not be kept running."""
        self._again.set()

    def end(self) -> None:
        """Ask all to end. Any thread and any signal handler may call it, more than once."""
        self._ending.set()
        self._again.set()
        household = self._household
        if household is not None:
            household.stop()

    def stop(self) -> None:
        """End all, and wait for it."""
        self.end()
        self._thread.join(_GOODBYE)

    def _run(self) -> None:
        while not self._ending.is_set():
            self._again.clear()
            reason = self._kept_running()
            if not reason:
                break
            log.error("The service cannot be kept running")
            self._reports.put(reason)
            if not self._ending.is_set():
                self._again.wait()
            self._reports.put("")
        self._reports.put(None)

    def _kept_running(self) -> str:
        """Keep the processes running; why that could not be done, empty at a good end."""
        try:
            household = self._household = Household(self._root)
            if self._ending.is_set():
                return ""
            return household.reason if household.run() is End.FAILED else ""
        except OSError as error:
            # The reason comes first, as a menu shows the beginning only.
            reason = error.strerror or str(error)
            return f"The data folder cannot be used: {reason}. Make room or mend the permissions of {self._root}, then start again."

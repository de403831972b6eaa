"""Keeps the window's process: one at a time, told what to show, and the person's browser in its place where no window can be."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

EXIT_ALREADY_OPEN = 3
EXIT_NO_ENGINE = 5
"""How a window ends that found another one open, or nothing that could show a page."""
_LARGEST_LOG = 1_000_000
_SOON = 10.0
"""Seconds; a window that ends badly so soon after its start is not started again."""
_GOODBYE = 5.0
_OTHER_GOES = 1.0


class WindowKeeper:
    """`browser` shows a page where no window can; it is called in a thread of the keeper's. `words` are those that start a window."""

    def __init__(self, root: Path, browser: Callable[[str], None], words: Sequence[str] = ()) -> None:
        self._root, self._browser = root, browser
        self._words = words or (sys.executable, "-P", "-m", "lean_memory_desktop.window", "--root", str(root))
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._has_no_engine = self._ending = False

    def show(self, page: str) -> None:
        """Bring the window up on `page`, or as it was where that is empty."""
        with self._lock:
            if self._ending or self._told(f"show {page}\n"):
                return
            if not self._has_no_engine:
                self._start(page)
                return
        self._browser(page)

    def stop(self) -> None:
        """End the window."""
        with self._lock:
            self._ending = True
            process = self._process
        if process is None:
            return
        _close(process)
        try:
            process.wait(_GOODBYE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _told(self, order: str) -> bool:
        """Whether there is a window and the order went to it."""
        process = self._process
        if process is None or process.poll() is not None or process.stdin is None:
            return False
        try:
            process.stdin.write(order.encode())
            process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def _start(self, page: str) -> None:
        log = self._root / "logs" / "window.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        if log.exists() and log.stat().st_size > _LARGEST_LOG:
            log.replace(log.with_suffix(".log.1"))
        with log.open("ab") as said:
            words = [*self._words, "--page", page]
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        threading.Thread(target=self._await, args=(self._process, page), name="window", daemon=True).start()

    def _await(self, process: subprocess.Popen[bytes], page: str) -> None:
        started = time.monotonic()
        code = process.wait()
        with self._lock:
            _close(process)
            if self._ending or code == 0 or process is not self._process:
                return
            if code == EXIT_ALREADY_OPEN:
                # That of a tray that was killed is just about to go.
                threading.Timer(_OTHER_GOES, self.show, (page,)).start()
                return
            if code != EXIT_NO_ENGINE and time.monotonic() - started > _SOON:
                self._start(page)
                return
            self._has_no_engine = code == EXIT_NO_ENGINE
        self._browser(page)


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close our end of a window's orders, which ends it; one that is gone cannot take what was still to be said."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()

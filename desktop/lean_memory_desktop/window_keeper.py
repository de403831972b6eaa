"""Keeps the window's process: one at a time, told what to show, and the person's browser in its place where no window can be."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from lean_memory_desktop import child_log
from lean_memory_desktop.supervisor import Death, Patience

EXIT_ALREADY_OPEN = 3
EXIT_NO_ENGINE = 5
"""How a window ends that found another one open, or nothing that could show a page."""
LOG_FILE = "logs/window.log"
SHOWN, HIDDEN = "shown", "hidden"
"""What a window says on its standard output, a line each: that its page stands before the person, or that it was closed and waits unseen."""
_PATIENCE = Patience(pauses=(0.1, 1.0, 2.0), window=30.0)
_REMEMBERED = 10
_GOODBYE = 5.0
_OTHER_GOES = 1.0


class WindowKeeper:
    """`browser` shows a page where no window can; it is called in a thread of the keeper's. `words` are those that start a window."""

    def __init__(self, root: Path, browser: Callable[[str], None], words: Sequence[str] = ()) -> None:
        self._root, self._browser = root, browser
        self._words = words or (sys.executable, "-P", "-m", "lean_memory_desktop.window", "--root", str(root))
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: list[Death] = []
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
        child_log.kept_short(self._root / LOG_FILE)
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
        words = [*self._words, "--page", page]
        with child_log.opened(self._root / LOG_FILE) as log:
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        threading.Thread(target=self._await, args=(self._process, page), name="window", daemon=True).start()

    def _await(self, process: subprocess.Popen[bytes], page: str) -> None:
        state = _last_said(process)
        code = process.wait()
        with self._lock:
            _close(process)
            if self._ending or code == 0 or process is not self._process or state == HIDDEN:
                # One that nobody saw is started when it is wanted again.
                return
            pause = self._pause(code, worked=state == SHOWN)
        if pause is None:
            self._browser(page)
            return
        threading.Timer(pause, self._show_again, (process, page)).start()

    def _pause(self, code: int, *, worked: bool) -> float | None:
        """Seconds until a window that ended badly is started again; `None` where the browser takes its place."""
        if code == EXIT_ALREADY_OPEN:
            # That of a tray that was killed is just about to go.
            return _OTHER_GOES
        self._has_no_engine = code == EXIT_NO_ENGINE
        if not worked:
            return None
        self._deaths = [*self._deaths[-_REMEMBERED:], Death(at=time.monotonic(), had_worked=True)]
        return _PATIENCE.pause(self._deaths)

    def _show_again(self, before: subprocess.Popen[bytes], page: str) -> None:
        with self._lock:
            if not self._ending and self._process is before:
                self._start(page)


def _last_said(process: subprocess.Popen[bytes]) -> str:
    """How a window stood when it ended: shown, hidden, or neither yet."""
    state = ""
    if process.stdout is not None:
        with process.stdout as lines:
            for line in lines:
                said = line.decode(errors="replace").strip()
                state = said if said in {SHOWN, HIDDEN} else state
    return state


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close our end of a window's orders, which ends it; one that is gone cannot take what was still to be said."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()

"""Ending in good order at a signal, whatever the main thread is busy with, and at once where good order takes too long."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

_ASKING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
log = logging.getLogger(__name__)


def heeded() -> tuple[int, ...]:
    """The signals that ask this process to end, except those that are ignored: whoever started it with `nohup`, or in the background of a
    script, wants it to live on."""
    known = [getattr(signal, name) for name in _ASKING if hasattr(signal, name)]
    return tuple(number for number in known if signal.getsignal(number) is not signal.SIG_IGN)


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Call `stop`, from now on and in a thread of its own, at each signal that asks to end. In the main thread.

    Python notes a signal in a pipe the moment it comes, and a thread listens there: the main thread runs GTK's loop, which runs nothing of
    Python's for as long as it likes, and nothing at all while the screen does not answer.
    """
    hears, says = os.pipe()
    if sys.platform != "win32":
        # Windows neither knows this of pipes nor asks for it.
        os.set_blocking(says, False)
    threading.Thread(target=_listen, args=(hears, stop), name="signals", daemon=True).start()
    _tell_signals_to(says)
    if sys.platform == "linux":
        # When the icon's loop begins, it has the signals noted elsewhere; what it does first is to give them back.
        glib: Any = import_module("gi.repository.GLib")
        glib.idle_add(_tell_signals_to, says, priority=glib.PRIORITY_HIGH)


def leave_at_once(why: str) -> None:
    """End this process as it is. What it keeps running ends by itself, as the pipes to it end."""
    main = sys._current_frames().get(threading.main_thread().ident or 0)  # pyright: ignore[reportPrivateUsage] - there is no other way to them
    log.error("%s\n%s", why, "".join(traceback.format_stack(main)))
    os._exit(1)


def _listen(hears: int, stop: Callable[[], None]) -> None:
    while os.read(hears, 1):
        stop()


def _tell_signals_to(says: int) -> bool:
    """Let each signal be noted in a pipe, also where that part of Python is told to note it elsewhere; false, as GLib is to call this once."""

    def note(*_: object) -> None:
        # Full of notes that nobody has read yet: one more says nothing new.
        with contextlib.suppress(BlockingIOError):
            os.write(says, b"\0")

    for number in heeded():
        signal.signal(number, note)
    signal.set_wakeup_fd(says, warn_on_full_buffer=False)
    return False

"""The icon alone, as a program: it says when it stands, shows another state at each line it reads, says when it is asked to end, and ends."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from itertools import cycle
from typing import Any

from lean_memory_desktop.ending import stop_on_signals
from lean_memory_desktop.state import Mood, Panel, View
from lean_memory_desktop.system import why_no_tray
from lean_memory_desktop.tray import Tray


def main() -> None:
    assert why_no_tray() == ""
    views = cycle(View(mood=mood, count=1, title=mood.value, menu=()) for mood in Mood)
    tray = Tray(import_module("pystray"), next(views), chosen=lambda _: None, panel=lambda: Panel.UNKNOWN)

    def obey() -> None:
        for _ in sys.stdin:
            tray.show(next(views))
            print("shown", flush=True)

    def end() -> None:
        print("asked", flush=True)
        tray.stop()

    threading.Thread(target=obey, daemon=True).start()
    stop_on_signals(end)
    # The loop says so, as it is not yet running where the library tells that it is ready.
    loop: Any = import_module("gi.repository.GLib")
    tray.run(lambda: loop.idle_add(print, "stands"))


if __name__ == "__main__":
    main()

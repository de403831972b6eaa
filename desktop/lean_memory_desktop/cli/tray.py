"""`lean-memory` without a command: the tray app where there can be a tray, otherwise the same without one."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path

from lean_memory_desktop.cli.console import complain, say
from lean_memory_desktop.cli.opening import data_root
from lean_memory_desktop.cli.options import Exit, Options

LOCK_FILE = "tray.lock"
_LARGEST_LOG = 1_000_000
_PATIENCE = 20.0


def start(options: Options) -> int:
    """Run until the person quits. A second start shows the first one's window and ends."""
    from lean_memory_desktop.system import why_no_tray

    root = data_root(options)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lacking = why_no_tray()
        return _headless(options, root, lacking) if lacking else _tray(options, root)
    except OSError as error:
        complain(f"Lean Memory cannot start with the data folder {root}: {error.strerror or error}. Nothing was changed.")
        return Exit.FAILED


def _tray(options: Options, root: Path) -> int:
    from lean_memory.only_one import only_one
    from lean_memory_desktop import instance
    from lean_memory_desktop.taking_over import taken_over

    with only_one(root / LOCK_FILE) as first:
        if not first:
            return _raise_the_first(root)
        with taken_over(root) as mine:
            if not mine:
                complain(
                    f"Another program keeps the memory in {root} running (process {instance.supervisor_pid(root)}) and did not make way; "
                    "end it and start again."
                )
                return Exit.FAILED
            _write_log(root)
            return _at_the_desk(options, root)


def _at_the_desk(options: Options, root: Path) -> int:
    from lean_memory_desktop.desk import Desk
    from lean_memory_desktop.system import has_tray_host

    unseen = not options.at_login and not has_tray_host()
    if unseen:
        say(
            "Nothing on this screen shows tray icons (GNOME does with the extension AppIndicator), so the window opens instead. "
            "It closes without ending anything; `lean-memory` brings it back, Ctrl-C here ends everything."
        )
        sys.stdout.flush()
    Desk(root, opens=unseen).run()
    return Exit.FINE


def _raise_the_first(root: Path) -> int:
    from lean_memory_desktop.doorbell import ring

    deadline, tick = time.monotonic() + _PATIENCE, threading.Event()
    # The first one may be starting at this very moment.
    while not ring(root):
        if time.monotonic() > deadline:
            complain("Lean Memory runs already, but does not answer. `lean-memory open` opens the memory in your browser.")
            return Exit.FAILED
        tick.wait(0.1)
    say("Lean Memory runs already; its window opens.")
    return Exit.FINE


def _headless(options: Options, root: Path, lacking: str) -> int:
    from lean_memory_desktop import instance
    from lean_memory_desktop.cli import serving, window

    say(f"{lacking} The memory works all the same.")
    sys.stdout.flush()
    with instance.claimed(root) as mine:
        if mine:
            return serving.supervise(root, None, lambda: _tell_the_way(root))
    options.only_print = True
    return window.open(options)


def _tell_the_way(root: Path) -> None:
    from lean_memory_bridge.client import ServiceClient
    from lean_memory_desktop.way_in import link_to

    service = ServiceClient.find(root)
    if service is not None:
        say(f"Your memory is at {link_to(service, '')}")
        say("That lets one browser of this computer in, once and within 2 minutes; `lean-memory open` makes another one. Ctrl-C ends it.")
        sys.stdout.flush()


def _write_log(root: Path) -> None:
    """Keep what the tray reports, and how it crashed, in the data folder; it goes nowhere else."""
    folder = root / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    handler = RotatingFileHandler(folder / "tray.log", maxBytes=_LARGEST_LOG, backupCount=1, encoding="utf-8")
    logging.basicConfig(handlers=[handler], level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    crashes = (folder / "tray-crash.log").open("a", encoding="utf-8")
    faulthandler.enable(crashes)

    def report(given: threading.ExceptHookArgs) -> None:
        if given.exc_value is not None:
            logging.getLogger(__name__).error("A part of the tray broke", exc_info=given.exc_value)

    threading.excepthook = report

"""`lean-memory` without a command: the tray app where there can be a tray, otherwise the same without one."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import StorageError
from lean_memory.settings import read_settings
from lean_memory_desktop.cli.console import complain, say
from lean_memory_desktop.cli.opening import command_line, data_root
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory_desktop.housekeeping import Housekeeper

LOCK_FILE = "tray.lock"
_LARGEST_LOG = 1_000_000
_PATIENCE = 40.0


def start(options: Options) -> int:
    """Run until the person quits. A second start shows the first one's window and ends."""
    from lean_memory_desktop.cli.updated import wait_for_update
    from lean_memory_desktop.system import why_no_tray

    wait_for_update()
    try:
        root = data_root(options)
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lacking = why_no_tray()
        return _headless(options, root, lacking) if lacking else _tray(options, root)
    except (StorageError, OSError) as error:
        reason = f"{error.strerror or error}. Nothing was changed." if isinstance(error, OSError) else str(error)
        return _failed(f"Lean Memory cannot start with the data folder {read_settings(options.root).root}: {reason}")


def _tray(options: Options, root: Path) -> int:
    from lean_memory.only_one import only_one
    from lean_memory_desktop.doorbell import ring

    deadline, tick = time.monotonic() + _PATIENCE, threading.Event()
    while True:
        with only_one(root / LOCK_FILE) as first:
            if first:
                return _as_the_first(options, root)
        if ring(root):
            say("Lean Memory runs already; its window opens.")
            return Exit.FINE
        if time.monotonic() > deadline:
            return _failed("Lean Memory runs already, but does not answer. `lean-memory open` opens the memory in your browser.")
        # The first one may be starting at this very moment, or ending; then we take its place.
        tick.wait(0.1)


def _as_the_first(options: Options, root: Path) -> int:
    from lean_memory_desktop import instance
    from lean_memory_desktop.taking_over import taken_over

    with taken_over(root) as mine:
        if not mine:
            return _failed(
                f"Another program keeps the memory in {root} running (process {instance.supervisor_pid(root)}) and did not make way; "
                "end it and start again."
            )
        _write_log(root)
        from lean_memory_desktop.housekeeping import Housekeeper

        house = Housekeeper(root)
        # Before all else, as the service takes longest to be there.
        house.start()
        try:
            return _at_the_desk(options, root, house)
        except Exception:
            # Started at login, nobody reads what is said on the way out.
            logging.getLogger(__name__).exception("The tray broke")
            raise
        finally:
            house.stop()


def _at_the_desk(options: Options, root: Path, house: Housekeeper) -> int:
    from lean_memory_desktop.desk import Desk
    from lean_memory_desktop.system import has_tray_host

    unseen = not options.at_login and not has_tray_host()
    if unseen:
        say(
            "Nothing on this screen shows tray icons (GNOME does with the extension AppIndicator), so the window opens instead. "
            "It closes without ending anything; `lean-memory` brings it back, Ctrl-C here ends everything."
        )
        sys.stdout.flush()
    Desk(root, house, opens=unseen or (options.window and not options.at_login)).run()
    return Exit.FINE


def _failed(sentence: str) -> int:
    """Tell why it cannot start, as a notification too where it was not started from a terminal."""
    complain(sentence)
    from lean_memory_desktop.system import has_screen

    if has_screen() and not (sys.stderr is not None and sys.stderr.isatty()):
        from lean_memory_desktop.news import Notice
        from lean_memory_desktop.notify import Notifier

        notifier = Notifier(lambda _: None)
        notifier.start()
        notifier.tell(Notice(title="Lean Memory cannot start", text=sentence, page="", is_trouble=True))
        notifier.stop()
    return Exit.FAILED


def _headless(options: Options, root: Path, lacking: str) -> int:
    from lean_memory_desktop import instance
    from lean_memory_desktop.cli import serving, window
    from lean_memory_desktop.taking_over import taken_over

    say(f"{lacking} The memory works all the same.")
    sys.stdout.flush()
    # One that stays keeps its place; one that would leave by itself does not keep the memory running, which is what this was started for.
    place = taken_over(root) if instance.leaves_by_itself(root) else instance.claimed(root)
    with place as mine:
        if mine:
            return serving.supervise(root, None, lambda: _tell_the_way(options, root))
    options.only_print = True
    return window.open(options)


def _tell_the_way(options: Options, root: Path) -> None:
    from lean_memory_bridge.client import ServiceClient
    from lean_memory_desktop.way_in import link_to

    service = ServiceClient.find(root)
    if service is not None:
        say(f"Your memory is at {link_to(service, '')}")
        another = command_line(options, "open")
        say(f"That lets one browser of this computer in, once and within 2 minutes; `{another}` makes another one. Ctrl-C ends it.")
        sys.stdout.flush()


def _write_log(root: Path) -> None:
    """Keep what the tray reports, and how it crashed, in the data folder; it goes nowhere else."""
    from lean_memory_desktop import child_log

    # A log that cannot be written, as on a full disk, is no trouble of its own.
    logging.raiseExceptions = False
    folder = root / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    handler = RotatingFileHandler(folder / "tray.log", maxBytes=_LARGEST_LOG, backupCount=1, encoding="utf-8")
    logging.basicConfig(handlers=[handler], level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    faulthandler.enable(child_log.opened(folder / "tray-crash.log"))

    def report(given: threading.ExceptHookArgs) -> None:
        if given.exc_value is not None:
            logging.getLogger(__name__).error("A part of the tray broke", exc_info=given.exc_value)

    threading.excepthook = report

"""The tray app: puts together the processes, the icon, the notifications and the window, and lets each know what the others learn."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lean_memory.errors import LeanMemoryError
from lean_memory.settings import read_settings
from lean_memory_bridge import pausing
from lean_memory_bridge.autostart import autostart_of
from lean_memory_desktop import news, system
from lean_memory_desktop.doorbell import Doorbell
from lean_memory_desktop.ending import leave_at_once, stop_on_signals
from lean_memory_desktop.errands import Errands
from lean_memory_desktop.housekeeping import Housekeeper
from lean_memory_desktop.news import Notice
from lean_memory_desktop.notify import Notifier
from lean_memory_desktop.remembered import Remembered, read_remembered, write_remembered
from lean_memory_desktop.schedule import local_zone
from lean_memory_desktop.state import Action, Do, Known, view
from lean_memory_desktop.tray import Tray
from lean_memory_desktop.watcher import Watcher, finder
from lean_memory_desktop.way_in import found_within, link_to
from lean_memory_desktop.window_keeper import WindowKeeper

if TYPE_CHECKING:
    from lean_memory_bridge.schemas import Snapshot

log = logging.getLogger(__name__)
_REDRAWN_EVERY = 60.0
"""Seconds between two looks at what no snapshot tells: the time of day, the zone the computer is in, the panel's colour."""
_ASSISTANTS_EVERY = 10.0
"""Seconds, at least, between two looks at the assistants' configurations that nobody asked for."""
_PATIENCE = 40.0
_LONGEST_END = 15.0
"""Seconds that icon and window get to end once the memory has; longer it takes only where the screen no longer answers."""


class Desk:
    """The tray app of `root`, around its `house`. The caller holds the locks of the tray and of the supervisor."""

    def __init__(self, root: Path, house: Housekeeper, *, opens: bool) -> None:
        self._root, self._house, self._opens = root, house, opens
        self._configured_zone = read_settings(root).timezone
        self._zone = local_zone(self._configured_zone)
        self._remembered = read_remembered(root)
        self._autostart = autostart_of(root)
        self._lock = threading.RLock()
        self._quitting, self._has_ended = threading.Event(), threading.Event()
        self._looked_at = -_ASSISTANTS_EVERY
        self._clients: tuple[str, ...] = ()
        self._bell: Doorbell | None = None
        self._find = finder(root)
        self._notifier = Notifier(lambda notice: self._window.show(notice.page))
        self._window = WindowKeeper(root, self._open_browser)
        self._errands = Errands(root, self._find, self._notifier.show)
        self._watcher = Watcher(self._find, seen=self._seen, lost=lambda: self._change(snapshot=None))
        self._known = Known(
            now=self._now(),
            paused=pausing.is_paused(root),
            at_login=self._autostart.is_on(),
            notifies=self._remembered.notifies,
        )
        self._tray = Tray(import_module("pystray"), view(self._known), chosen=self._chosen, panel=system.panel)

    def run(self) -> None:
        """Run until the person quits, a signal comes or the service was told to end; the house has been asked to end then. In the main thread."""
        self._hang_bell()
        self._notifier.start()
        self._watcher.start()
        threading.Thread(target=self._follow_house, name="house", daemon=True).start()
        threading.Thread(target=self._redraw, name="redraw", daemon=True).start()
        stop_on_signals(self.quit)
        try:
            self._tray.run(self._begin)
        finally:
            self.quit()
            self._watcher.stop()
            if self._bell is not None:
                self._bell.close()
            self._window.stop()
            self._notifier.stop()
            self._has_ended.set()

    def quit(self) -> None:
        """Begin to end. Any thread may call it, more than once."""
        if self._quitting.is_set():
            return
        self._quitting.set()
        self._house.end()
        threading.Thread(target=self._tray.stop, daemon=True).start()
        threading.Thread(target=self._insist, name="end", daemon=True).start()

    def _insist(self) -> None:
        self._house.stop()
        if not self._has_ended.wait(_LONGEST_END):
            leave_at_once("The icon did not end, so this process does without that")

    def _begin(self) -> None:
        if self._opens:
            self._in_background(lambda: self._window.show(""))

    def _hang_bell(self) -> None:
        try:
            if self._bell is None:
                self._bell = Doorbell(self._root, self._summoned)
            else:
                self._bell.put_back()
        except OSError as error:
            # What keeps it from being written keeps the service from running as well, which is told.
            log.warning("A second start will not be heard: %s", error.strerror)

    def _summoned(self, page: str) -> bool:
        if self._quitting.is_set():
            return False
        self._window.show(page)
        return True

    def _follow_house(self) -> None:
        for reason in self._house.reports():
            self._change(trouble=reason)
            if reason:
                self._tell_of(reason)
        self.quit()

    def _seen(self, snapshot: Snapshot) -> None:
        self._change(snapshot=snapshot, has_started=True, paused=snapshot.paused)
        with self._lock:
            told, notices = news.news(self._remembered.told, snapshot, self._now())
            self._remember(replace(self._remembered, told=told))
            wanted = notices if self._remembered.notifies else ()
        for notice in wanted:
            self._notifier.show(notice)
        clients = tuple(client.name for client in snapshot.clients)
        if clients != self._clients or time.monotonic() - self._looked_at > _ASSISTANTS_EVERY:
            self._clients = clients
            threading.Thread(target=self._look_unasked, daemon=True).start()

    def _tell_of(self, reason: str) -> None:
        with self._lock:
            told, notices = news.trouble(self._remembered.told, (reason,), self._now())
            self._remember(replace(self._remembered, told=told))
        for notice in notices if self._remembered.notifies else ():
            self._notifier.show(notice)

    def _look_unasked(self) -> None:
        # Where the service has gone meanwhile its next state brings another look; nobody asked for this one, so nobody is told.
        with contextlib.suppress(LeanMemoryError, OSError):
            self._look_at_assistants()

    def _look_at_assistants(self) -> None:
        self._looked_at = time.monotonic()
        self._change(assistants=self._errands.assistants())

    def _remember(self, remembered: Remembered) -> None:
        if remembered == self._remembered:
            return
        self._remembered = remembered
        try:
            write_remembered(self._root, remembered)
        except OSError as error:
            log.warning("What was told could not be kept: %s", error.strerror)

    def _change(self, **known: Any) -> None:
        with self._lock:
            self._known = replace(self._known, now=self._now(), **known)
            self._tray.show(view(self._known))

    def _redraw(self) -> None:
        while not self._quitting.wait(_REDRAWN_EVERY):
            self._zone = local_zone(self._configured_zone)
            self._hang_bell()
            self._change(at_login=self._autostart.is_on())

    def _chosen(self, action: Action) -> None:
        if action.do is Do.QUIT:
            self.quit()
        else:
            self._in_background(lambda: self._do(action))

    def _do(self, action: Action) -> None:
        errands: dict[Do, Callable[[], None]] = {
            Do.OPEN: lambda: self._window.show(action.what),
            Do.SWITCH: lambda: self._switch(action.what),
            Do.RUN: self._errands.run_maintenance,
            Do.CANCEL: self._errands.cancel_maintenance,
            Do.PAUSE: lambda: self._pause(True),
            Do.RESUME: lambda: self._pause(False),
            Do.LOGIN: self._toggle_login,
            Do.NOTIFY: self._toggle_notices,
            Do.FOLDER: lambda: system.open_folder(self._root),
            Do.LOGS: lambda: system.open_folder(self._root / "logs"),
            Do.CHECK: self._errands.check_connections,
            Do.START_AGAIN: self._house.try_again,
            Do.QUIT: self.quit,
        }
        errands[action.do]()

    def _pause(self, paused: bool) -> None:
        self._errands.pause(paused)
        self._change(paused=pausing.is_paused(self._root))

    def _switch(self, name: str) -> None:
        self._change(busy=self._known.busy | {name})
        try:
            self._errands.switch(name, self._known.assistants)
            self._look_at_assistants()
        finally:
            self._change(busy=self._known.busy - {name})

    def _toggle_login(self) -> None:
        if self._autostart.is_on():
            self._autostart.turn_off()
        else:
            self._autostart.turn_on()
        self._change(at_login=self._autostart.is_on())

    def _toggle_notices(self) -> None:
        with self._lock:
            self._remember(replace(self._remembered, notifies=not self._remembered.notifies))
            self._change(notifies=self._remembered.notifies)

    def _in_background(self, errand: Callable[[], None]) -> None:
        """Do something that takes its time; what goes wrong is told, as the person asked for it."""

        def do() -> None:
            try:
                errand()
            except (LeanMemoryError, OSError) as error:
                if not self._quitting.is_set():
                    self._notifier.show(Notice(title="That did not work", text=str(error), page="settings", is_trouble=True))

        threading.Thread(target=do, daemon=True).start()

    def _now(self) -> dt.datetime:
        return dt.datetime.now(self._zone)

    def _open_browser(self, page: str) -> None:
        try:
            opened = system.open_address(link_to(found_within(self._root, _PATIENCE), page))
            text = "" if opened else "No window and no browser can be opened here. `lean-memory open --print` gives the page's address."
        except LeanMemoryError as error:
            text = str(error)
        if text:
            self._notifier.show(Notice(title="The memory cannot be shown", text=text, page="", is_trouble=True))

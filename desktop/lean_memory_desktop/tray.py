"""The icon and its menu, as pystray draws them. It shows what it is given and reports what was chosen; it knows nothing else."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lean_memory_desktop.icon import draw
from lean_memory_desktop.state import Action, Do, Entry, Panel, View

NAME = "lean-memory"
_SIZE = 48
"""Twice the usual size of a panel's icons, so that it stays sharp on panels that are scaled up, and is halved evenly on those that are not."""
_SHORTEST_TITLE = 127
"""Windows takes no longer one."""


class Tray:
    """`library` is the module `pystray`. `chosen` is called in the icon's own thread, which must not be held up."""

    def __init__(self, library: Any, first: View, *, chosen: Callable[[Action], None], panel: Callable[[], Panel]) -> None:
        self._library, self._chosen, self._panel = library, chosen, panel
        self._shown, self._on = first, panel()
        _keep_to_the_icon()
        self._icon = library.Icon(NAME, self._drawn(), first.title[:_SHORTEST_TITLE], self._menu(first.menu))

    def run(self, ready: Callable[[], None]) -> None:
        """Show the icon until `stop`; `ready` is called once it is there. Must be called in the main thread."""

        def begin(icon: Any) -> None:
            icon.visible = True
            ready()

        self._icon.run(begin)

    def stop(self) -> None:
        """Take the icon away. Any thread may call it."""
        self._icon.stop()

    def show(self, view: View) -> None:
        """Show another state. Any thread may call it, one at a time; what did not change is left as it is, as a menu may be open."""
        before, self._shown = self._shown, view
        panel = self._panel()
        if (view.mood, view.count, panel) != (before.mood, before.count, self._on):
            self._on = panel
            self._icon.icon = self._drawn()
        if view.title != before.title:
            self._icon.title = view.title[:_SHORTEST_TITLE]
        if view.menu != before.menu:
            self._icon.menu = self._menu(view.menu)

    def _drawn(self) -> Any:
        return draw(self._shown.mood, self._shown.count, _SIZE, self._on)

    def _menu(self, entries: Sequence[Entry]) -> Any:
        return self._library.Menu(*(self._item(entry) for entry in entries))

    def _item(self, entry: Entry) -> Any:
        if not entry.label:
            return self._library.Menu.SEPARATOR
        if entry.children:
            return self._library.MenuItem(_plain(entry.label), self._menu(entry.children))
        action = entry.action
        ticked = entry.ticked

        def choose(_icon: Any, _item: Any) -> None:
            if action is not None:
                self._chosen(action)

        def is_ticked(_item: Any) -> bool:
            return ticked is True

        return self._library.MenuItem(
            _plain(entry.label),
            choose,
            checked=None if ticked is None else is_ticked,
            enabled=action is not None,
            # What a click on the icon itself does, where the system has such a thing.
            default=action == Action(do=Do.OPEN, what="memories"),
        )


class _Silent:
    """Stands in the place of the library's own notifications."""

    def notify(self, *_: object) -> None:
        """Show nothing."""

    def hide(self) -> None:
        """Hide nothing."""


def _keep_to_the_icon() -> None:
    """Keep the library from what is not its task here, and which it does with GTK before it shows the icon.

    It makes ready for notifications, of which it is given none, and raises where no session bus answers; at the end it hides them, and raises
    where nobody shows any. It lets Ctrl-C end the process at once. And it keeps its picture among the temporary files, which often are on the
    disk that is full when the icon has to say so.
    """
    gtk = sys.modules.get("pystray._util.gtk")
    if gtk is not None:
        gtk.__dict__["notify_dbus"] = SimpleNamespace(Notifier=_Silent)
        gtk.__dict__["tempfile"] = SimpleNamespace(mktemp=_place_of_picture)
        gtk.__dict__["signal"] = SimpleNamespace(SIGINT=signal.SIGINT, SIG_DFL=signal.SIG_DFL, signal=_ignored)


def _place_of_picture() -> str:
    """A new file's path in the session's own folder, which lies in memory and is emptied at its end; elsewhere where there is none."""
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(session if os.access(session, os.W_OK) else tempfile.gettempdir())
    # A new name each time, as panels keep what they have read.
    return str(folder / f"{NAME}-{secrets.token_hex(8)}.png")


def _ignored(*_: object) -> None:
    """Do nothing."""


def _plain(label: str) -> str:
    """A label in which nothing marks a key: Windows takes `&` for that."""
    return label.replace("&", "&&") if sys.platform == "win32" else label

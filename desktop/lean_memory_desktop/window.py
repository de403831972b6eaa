"""The window: the memory's page in a web engine of the system, in a process of its own.

It is told what to do in lines on its standard input, `show PAGE` and `quit`; when that ends, so does the window, however the tray ended.
Closing it only hides it, and it says on its standard output which of the two is so. It remembers its size and place, and nothing of what it
showed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from lean_memory.errors import LeanMemoryError
from lean_memory.only_one import only_one
from lean_memory_bridge.client import ServiceClient
from lean_memory_desktop.orders import followed, leave
from lean_memory_desktop.remembered import read_object, write_object
from lean_memory_desktop.system import add_system_gtk
from lean_memory_desktop.way_in import found_within, link_to
from lean_memory_desktop.window_keeper import EXIT_ALREADY_OPEN, EXIT_NO_ENGINE, HIDDEN, SHOWN

WINDOW_FILE = "window.json"
LOCK_FILE = "window.lock"
TITLE = "Lean Memory"
_PATIENCE = 20.0
_SMALLEST = (360, 400)
_LARGEST = 20_000
"""Pixels; more than any screen has, and within what a window system takes."""
_BLANK = "<p></p>"
_GRIP = 80
"""Pixels of the window that have to be on a screen, so that it can be taken hold of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the window is and how large, in pixels; without `x` and `y` the system places it."""

    width: int = 1100
    height: int = 760
    x: int | None = None
    y: int | None = None


def read_place(path: Path) -> Place:
    """What was remembered, as far as it makes sense."""
    held = {name: value for name, value in read_object(path).items() if isinstance(value, int) and not isinstance(value, bool)}
    width, height = (
        min(max(held.get(name, usual), least), _LARGEST)
        for name, usual, least in zip(("width", "height"), (Place().width, Place().height), _SMALLEST, strict=True)
    )
    return Place(width=width, height=height, x=held.get("x"), y=held.get("y"))


def on_a_screen(place: Place, screens: list[tuple[int, int, int, int]]) -> Place:
    """The same place, but left to the system where no screen (x, y, width, height) shows enough of it."""
    if place.x is None or place.y is None:
        return replace(place, x=None, y=None)
    x, y = place.x, place.y
    seen = any(
        left - place.width + _GRIP <= x <= left + width - _GRIP and top <= y <= top + height - _GRIP for left, top, width, height in screens
    )
    return place if seen else replace(place, x=None, y=None)


class Window:
    """The one window of a data root. `library` is the module `webview`; `say` is told whether the person sees it."""

    def __init__(self, root: Path, library: Any, say: Callable[[str], None]) -> None:
        self._root, self._library, self._say = root, library, say
        self._place = read_place(root / WINDOW_FILE)
        self._quitting = False
        self._address = ""
        self._window: Any = None

    def run(self, page: str, orders: Iterable[str]) -> None:
        """Show `page` and follow the orders until they end."""
        address, link = self._way_in(page)
        screens = [(one.x, one.y, one.width, one.height) for one in self._library.screens]
        place = self._place = on_a_screen(self._place, screens)
        self._address = address
        window = self._library.create_window(
            TITLE, html=_BLANK, width=place.width, height=place.height, x=place.x, y=place.y, min_size=_SMALLEST, text_select=True
        )
        self._window = window
        window.events.before_show += lambda: allow_local_storage(window.native)
        window.events.closing += self._close
        window.events.resized += self._resized
        window.events.moved += self._moved
        self._library.start(self._obey, (link, orders))

    def _obey(self, link: str, orders: Iterable[str]) -> None:
        try:
            self._follow(link, orders)
        except Exception:  # noqa: BLE001 - whatever a web engine raises: a window that is deaf to its keeper must not stay
            traceback.print_exc()
            leave(1)

    def _follow(self, link: str, orders: Iterable[str]) -> None:
        # Not before the window stands: a page that came first would find no storage for its key. And no order before the page has come, as
        # another page in its place would let the code go to waste.
        self._window.load_url(link)
        self._window.events.loaded.wait(_PATIENCE)
        self._say(SHOWN)
        for order in orders:
            if order == "quit":
                break
            if order.startswith("show"):
                self._show(order.removeprefix("show").strip())
        self._quitting = True
        self._keep_place()
        self._window.destroy()

    def _show(self, page: str) -> None:
        try:
            service = ServiceClient.find(self._root)
            if service is not None and service.live.address != self._address:
                # Begun anew at another port, of which the page that is open knows nothing.
                self._address, link = self._way_in(page)
                self._window.load_url(link)
            elif page:
                self._window.load_url(f"{self._address}/#/{page}")
        except LeanMemoryError as error:
            print(f"The page could not be changed: {error}", file=sys.stderr)
        self._window.restore()
        self._window.show()
        self._say(SHOWN)

    def _way_in(self, page: str) -> tuple[str, str]:
        """The service's address, and a link that lets this window in once. Raises `LeanMemoryError`."""
        service = found_within(self._root, _PATIENCE)
        return service.live.address, link_to(service, page)

    def _close(self) -> bool:
        if self._quitting:
            return True
        self._window.hide()
        self._say(HIDDEN)
        self._keep_place()
        return False

    def _resized(self, width: float, height: float) -> None:
        self._place = replace(self._place, width=int(width), height=int(height))

    def _moved(self, x: float, y: float) -> None:
        self._place = replace(self._place, x=int(x), y=int(y))

    def _keep_place(self) -> None:
        try:
            write_object(self._root / WINDOW_FILE, asdict(self._place))
        except OSError as error:
            print(f"The window's place could not be kept: {error}", file=sys.stderr)


def web_engine() -> Any:
    """The module `webview`, set so that the person can take their memories out of it: its own dialog asks where to. Raises `ImportError`."""
    library: Any = import_module("webview")
    library.settings["ALLOW_DOWNLOADS"] = True
    return library


def allow_local_storage(widget: Any) -> None:
    """Give the page its storage back, in memory only.

    pywebview's private mode, in which nothing of what is shown reaches the disk, also takes local storage away on GTK; the page keeps its key
    there. Its other web engines leave it alone.
    """
    settings = widget.get_settings() if hasattr(widget, "load_uri") else None
    if settings is not None:
        settings.set_enable_html5_local_storage(True)
    for child in widget.get_children() if hasattr(widget, "get_children") else ():
        allow_local_storage(child)


def main() -> int:
    """Be the window of `--root` until told to end."""
    parser = argparse.ArgumentParser(prog="lean_memory_desktop.window")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--page", default="")
    given = parser.parse_args()
    with only_one(given.root / LOCK_FILE) as mine:
        if not mine:
            return EXIT_ALREADY_OPEN
        orders = followed(sys.stdin)
        add_system_gtk()
        try:
            Window(given.root, web_engine(), _teller()).run(given.page, orders)
        except (ImportError, ValueError) as error:
            print(f"No web engine: {error}", file=sys.stderr)
            return EXIT_NO_ENGINE
        except LeanMemoryError as error:
            print(error, file=sys.stderr)
            return 1
        except Exception as error:
            if type(error).__name__ != "WebViewException":
                raise
            print(f"No web engine: {error}", file=sys.stderr)
            return EXIT_NO_ENGINE
    return 0


def _teller() -> Callable[[str], None]:
    """Says a line to the keeper. Nothing else that is printed goes there, and the web engine's processes do not hold the line open."""
    line = os.dup(1)
    os.dup2(2, 1)

    def say(word: str) -> None:
        # A keeper that is gone need not know.
        with contextlib.suppress(OSError):
            os.write(line, f"{word}\n".encode())

    return say


if __name__ == "__main__":
    # Not by way of the interpreter's end, which waits for every thread that the web engine has left.
    result = 1
    try:
        result = main()
    except Exception:  # noqa: BLE001 - it is written to the log, and the keeper takes it from there
        traceback.print_exc()
    leave(result)

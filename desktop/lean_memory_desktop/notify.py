"""Notifications of the system. Where there is nobody to show them nothing is lost: the icon and the page say the same."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from lean_memory_desktop.news import Notice

APP_NAME = "Lean Memory"
_LONGEST_TELLING = 5.0
log = logging.getLogger(__name__)


class Notifier:
    """Shows notices in the order given, from a thread of its own; `clicked` is called there with the notice that was clicked.

    They are quiet: no sound, low urgency but for trouble, never the urgency that breaks through do-not-disturb.
    """

    def __init__(self, clicked: Callable[[Notice], None], *, icon: Path | None = None) -> None:
        self._clicked, self._icon = clicked, icon
        self._loop = asyncio.new_event_loop()
        self._backend: Any = None
        self._thread = threading.Thread(target=self._run, name="notifications", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what was not shown yet is not."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(2)

    def tell(self, notice: Notice) -> None:
        """Show it and return once that is done, or after some seconds: for a process that is about to end."""
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._show(notice), self._loop).result(_LONGEST_TELLING)

    def show(self, notice: Notice) -> None:
        """Show it soon. Never raises: who cannot be notified looks at the icon."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._show(notice), self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_give_up())
        finally:
            self._loop.close()

    async def _show(self, notice: Notice) -> None:
        try:
            library: Any = import_module("desktop_notifier")
            if self._backend is None:
                icon = None if self._icon is None else library.Icon(path=self._icon)
                self._backend = library.DesktopNotifier(app_name=APP_NAME, app_icon=icon)
            urgency = library.Urgency.Normal if notice.is_trouble else library.Urgency.Low
            await self._backend.send(title=notice.title, message=notice.text, urgency=urgency, on_clicked=lambda: self._clicked(notice))
        except Exception as error:  # noqa: BLE001 - each system's library has errors of its own, and none may end the thread
            # No word of the notice: the log may be shown to others.
            log.warning("A notification could not be shown: %s", type(error).__name__)


async def _give_up() -> None:
    """End what is still being shown, and what was only just asked for."""
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)

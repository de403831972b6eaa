"""Notifications of the system. Where there is nobody to show them nothing is lost: the icon and the page say the same."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from lean_memory_desktop.news import Notice

APP_NAME = "Lean Memory"
_LONGEST_TELLING = 5.0
_LONGEST_SENDING = 60.0
"""Seconds; whoever shows notifications may ask the person first whether we may."""
_PAUSES = (2.0, 8.0, 30.0, 60.0)
"""Seconds between two tries: at a login whoever shows notifications often comes later than we do, and after a fall it comes again."""
_ROUNDS = 3
"""Of the loop: what hangs up takes two of them."""
log = logging.getLogger(__name__)


class Notifier:
    """Shows notices in the order given, save those that have to be tried again, from a thread of its own; `clicked` is called there with the notice that was clicked.

    They are quiet: no sound, low urgency but for trouble, never the urgency that breaks through do-not-disturb. What nobody shows is tried
    again after each of `pauses` seconds, and then left; the log says once that it is so, and once that it is over.
    """

    def __init__(self, clicked: Callable[[Notice], None], *, icon: Path | None = None, pauses: Sequence[float] = _PAUSES) -> None:
        self._clicked, self._icon, self._pauses = clicked, icon, pauses
        self._loop = asyncio.new_event_loop()
        self._turn = asyncio.Lock()
        self._backend: Any = None
        self._is_mute = False
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
            asyncio.run_coroutine_threadsafe(self._is_shown(notice), self._loop).result(_LONGEST_TELLING)

    def show(self, notice: Notice) -> None:
        """Show it soon. Never raises: who cannot be notified looks at the icon."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._show(notice), self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._hang_up()
            self._loop.run_until_complete(_give_up())
        finally:
            self._loop.close()

    async def _show(self, notice: Notice) -> None:
        for pause in self._pauses:
            if await self._is_shown(notice):
                return
            await asyncio.sleep(pause)
        await self._is_shown(notice)

    async def _is_shown(self, notice: Notice) -> bool:
        """Show it. False only where it surely was not shown, so that nothing comes twice."""
        async with self._turn:
            try:
                shown = await asyncio.wait_for(self._sent(notice), _LONGEST_SENDING)
                why = "nobody shows them"
            except TimeoutError:
                # It may stand in a queue still, and its click is waited for.
                return True
            except Exception as error:  # noqa: BLE001 - each system's library has errors of its own, and none may end the thread
                shown, why = False, type(error).__name__
            if not shown:
                self._hang_up()
            self._note(shown, why)
            return shown

    async def _sent(self, notice: Notice) -> bool:
        library: Any = import_module("desktop_notifier")
        # It would write into our log at each try, with all it knows of the error.
        logging.getLogger("desktop_notifier").setLevel(logging.ERROR)
        if self._backend is None:
            icon = None if self._icon is None else library.Icon(path=self._icon)
            self._backend = library.DesktopNotifier(app_name=APP_NAME, app_icon=icon)
        urgency = library.Urgency.Normal if notice.is_trouble else library.Urgency.Low
        # It raises nothing where nobody takes the notice; it only does not say that it went out.
        out = asyncio.Event()
        await self._backend.send(
            title=notice.title, message=notice.text, urgency=urgency, on_dispatched=out.set, on_clicked=lambda: self._clicked(notice)
        )
        return out.is_set()

    def _hang_up(self) -> None:
        """Let the next try begin with a connection of its own; the library leaves one open at each try that fails."""
        line = getattr(getattr(self._backend, "_backend", None), "bus", None)
        self._backend = None
        if line is not None:
            line.disconnect()

    def _note(self, shown: bool, why: str) -> None:
        # No word of the notice: the log may be shown to others.
        if not shown and not self._is_mute:
            log.warning("Notifications cannot be shown (%s); the icon and the page say the same", why)
        elif shown and self._is_mute:
            log.info("Notifications are shown again")
        self._is_mute = not shown


async def _give_up() -> None:
    """End what is still being shown, and what was only just asked for."""
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)

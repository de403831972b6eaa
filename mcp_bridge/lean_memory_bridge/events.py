"""The state that windows and trays show: whole snapshots, each of which replaces the one before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from lean_memory_bridge.schemas import Snapshot

PAUSE = 0.5
"""Seconds between two snapshots, so that a busy client does not make a tray redraw for each call."""


class Feed:
    """Makes a new snapshot after a change and hands it to whoever follows. Belongs to one event loop."""

    def __init__(self, make: Callable[[], Awaitable[Snapshot]]) -> None:
        self._make = make
        self._changed = asyncio.Event()
        self._news = asyncio.Condition()
        self._latest: Snapshot | None = None
        self._followers = 0
        self._beyond = False

    def changed(self, *, beyond: bool = False) -> None:
        """Say that the state may be another one; the snapshot follows soon. `beyond`: something is, which followers look up as no snapshot holds it."""
        self._beyond |= beyond
        self._changed.set()

    async def keep_up(self) -> None:
        """Make snapshots until cancelled; only while somebody follows, as making one looks at every file."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._followers:
                await self.refresh()
                await asyncio.sleep(PAUSE)

    async def refresh(self) -> Snapshot:
        """The snapshot of this moment; a new version if anything is different."""
        made = await self._make()
        async with self._news:
            before = self._latest
            beyond, self._beyond = self._beyond, False
            same = not beyond and before is not None and made.model_copy(update={"version": before.version}) == before
            if not same:
                self._latest = made.model_copy(update={"version": 1 if before is None else before.version + 1})
                self._news.notify_all()
            assert self._latest is not None
            return self._latest

    async def follow(self, heartbeat: float) -> AsyncIterator[Snapshot | None]:
        """The newest snapshot, then each newer one; `None` after `heartbeat` seconds without news."""
        self._followers += 1
        try:
            seen = await self.refresh()
            yield seen
            while True:
                newer = await self._newer_than(seen.version, heartbeat)
                yield newer
                seen = newer or seen
        finally:
            self._followers -= 1

    async def _newer_than(self, version: int, patience: float) -> Snapshot | None:
        async with self._news:
            try:
                async with asyncio.timeout(patience):
                    await self._news.wait_for(lambda: self._latest is not None and self._latest.version > version)
            except TimeoutError:
                return None
            return self._latest

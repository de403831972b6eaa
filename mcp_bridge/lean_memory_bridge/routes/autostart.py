"""`/api/v1/at-login`: whether the tray starts when the person logs in; the same as its menu's "Start at login"."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

from fastapi import APIRouter

from lean_memory.errors import StorageError
from lean_memory_bridge.autostart import Autostart, autostart_of
from lean_memory_bridge.routes.parts import TheOwner, TheParts
from lean_memory_bridge.schemas import AtLogin, AtLoginChange

router = APIRouter(prefix="/api/v1", tags=["service"])


@router.get("/at-login")
async def at_login(parts: TheParts, _: TheOwner) -> AtLogin:
    """Whether the tray starts at login, and whether it can."""
    return await asyncio.to_thread(_standing, autostart_of(parts.root))


@router.patch("/at-login")
async def change_at_login(change: AtLoginChange, parts: TheParts, _: TheOwner) -> AtLogin:
    """Let the tray start at login, or no longer."""
    autostart = autostart_of(parts.root)
    await asyncio.to_thread(_change, autostart, change.on)
    parts.feed.changed(beyond=True)
    return await asyncio.to_thread(_standing, autostart)


def _standing(autostart: Autostart) -> AtLogin:
    return AtLogin(on=autostart.is_on(), available=find_spec("lean_memory_desktop") is not None)


def _change(autostart: Autostart, on: bool) -> None:
    try:
        if on:
            autostart.turn_on()
        else:
            autostart.turn_off()
    except OSError as error:
        raise StorageError(f"What starts at login could not be changed: {error.strerror or error}. Nothing was changed.") from error

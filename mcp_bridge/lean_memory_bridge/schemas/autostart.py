"""Whether the tray starts when the person logs in."""

from __future__ import annotations

from lean_memory_bridge.schemas.base import Answer, Request


class AtLogin(Answer):
    """Whether the tray starts at login, and whether there is a tray on this computer that could."""

    on: bool
    available: bool


class AtLoginChange(Request):
    """What the person chose."""

    on: bool

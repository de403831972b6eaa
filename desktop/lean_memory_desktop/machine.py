"""Whether this machine has better to do than to tidy a memory: on battery, or busy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import psutil

from lean_memory_desktop.nightly import Hindrance

BUSY = 60.0
"""Per cent of all cores together, above which the machine is busy."""
_LISTENING = 3.0
"""Seconds over which the load is measured; the next measure follows a minute later."""


def is_on_battery() -> bool:
    """Whether a battery is there and no mains power; false where the system cannot tell."""
    look = getattr(psutil, "sensors_battery", None)
    battery = look() if look is not None else None
    return battery is not None and battery.power_plugged is False


def load() -> float:
    """How busy all cores together are, in per cent, over the next three seconds."""
    return psutil.cpu_percent(interval=_LISTENING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What may hinder a run, as it is now."""

    on_battery: Callable[[], bool] = is_on_battery
    load: Callable[[], float] = load

    def hindrance(self) -> Hindrance | None:
        """What a run should wait for. Blocks for some seconds while it measures."""
        if self.on_battery():
            return Hindrance(what="mains power, as the computer runs on its battery", lasting=True)
        if self.load() > BUSY:
            return Hindrance(what="a quiet moment, as the computer is busy", lasting=False)
        return None

"""The one source of the present moment, so that tests can hold it still."""

from __future__ import annotations

import time
from collections.abc import Callable

from lean_memory.domain import Instant

Clock = Callable[[], Instant]
"""Gives the present moment as epoch milliseconds."""


def system_clock() -> Instant:
    """The wall clock of this machine, in epoch milliseconds."""
    return Instant(time.time_ns() // 1_000_000)

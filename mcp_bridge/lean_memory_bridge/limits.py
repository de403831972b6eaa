"""How much one client may ask for in a time, so that a runaway program neither floods the memory nor starves the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from lean_memory_bridge.refusals import TooManyCallsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`a_second` calls in the long run, `at_once` more after a rest."""

    a_second: float
    at_once: float


READS = Rate(a_second=100, at_once=1000)
WRITES = Rate(a_second=20, at_once=400)
LONGEST_DELAY = 5.0
"""Seconds that a call may be held back; one that would have to wait longer is refused."""


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


@dataclass(slots=True, kw_only=True)
class Limiter:
    """Token buckets, one per client and kind of call."""

    rate: Rate
    now: Callable[[], float] = monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict[str, _Bucket])

    def delay(self, client: str, weight: float = 1.0) -> float:
        """Seconds to hold the call back, 0 as a rule. Raises `TooManyCallsError`, and counts nothing, where it would be too long."""
        now = self.now()
        bucket = self._buckets.setdefault(client, _Bucket(self.rate.at_once, now))
        left = min(self.rate.at_once, bucket.left + (now - bucket.at) * self.rate.a_second) - weight
        wait = max(0.0, -left / self.rate.a_second)
        if wait > LONGEST_DELAY:
            raise TooManyCallsError(
                f"{client} called too often; nothing of this call was done. Try again in {wait:.0f} seconds, and with fewer calls.", wait
            )
        bucket.left, bucket.at = left, now
        return wait

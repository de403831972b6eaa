"""A model that is too slow for this machine is left alone for a while, as every search would wait for it in vain."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from time import monotonic

from lean_memory.errors import ModelUnavailableError
from lean_memory.forking import Mutex

SHORTEST, LONGEST = 4.0, 300.0
"""Seconds of the first rest and of the longest; each is twice the one before."""
_DOUBLINGS = 10
"""After so many of them the longest rest is reached."""
_FORGIVEN = 1
"""Overrunning once may be chance: something else was computed."""
_IS_OVER = 0.85
"""The worker gives up at nine tenths of what its caller waits."""


class Rest:
    """Counts how often in a row a model overran its time, and lets it rest after the second time. Thread-safe. `now` gives seconds."""

    def __init__(self, *, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._overran = 0
        self._ends = 0.0
        self._lock = Mutex()

    @property
    def message(self) -> str:
        """A sentence for a person while it rests, the same all the time; else nothing."""
        with self._lock.held:
            return self._sentence() if self._now() < self._ends else ""

    @contextlib.contextmanager
    def watched(self, seconds: float) -> Generator[None]:
        """Around one call, which may take `seconds`. Raises `ModelUnavailableError` at once during a rest."""
        with self._lock.held:
            began = self._now()
            if began < self._ends:
                raise ModelUnavailableError(self._sentence())
        try:
            yield
        except ModelUnavailableError:
            # One that is not there says so at once, and needs no rest.
            if self._now() - began >= _IS_OVER * seconds:
                self._count()
            raise
        with self._lock.held:
            self._overran = 0

    def _count(self) -> None:
        with self._lock.held:
            self._overran += 1
            self._ends = self._now() + self._length()

    def _length(self) -> float:
        doublings = self._overran - 1 - _FORGIVEN
        # No number holds what weeks of doubling come to.
        return 0.0 if doublings < 0 else LONGEST if doublings > _DOUBLINGS else min(LONGEST, SHORTEST * 2.0**doublings)

    def _sentence(self) -> str:
        return f"It was too slow for {self._overran} searches in a row and is not asked for {self._length():.0f} s."

"""How far a pull has come, how fast it goes and whether it is to stop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from threading import Event

_WINDOW = 10.0
"""Seconds over which the speed is taken."""
_OFTEN = 0.2
"""Seconds between two reports at least."""


class Phase(StrEnum):
    """What a pull is doing."""

    CHECKING = "checking"
    """Reading what is there already, to see that it is whole."""
    FETCHING = "fetching"
    UNPACKING = "unpacking"
    """Putting the packages that run the models in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A moment of a pull; bytes and seconds. `total` may move a little until the hub has said how long every file is."""

    phase: Phase
    done: int
    """Bytes that are there: found whole, taken up again, or received now."""
    total: int
    received: int
    """Bytes that came over the line or out of the bundle in this pull."""
    model_id: str
    path: str
    speed: float = 0.0
    """Bytes a second over the last moments."""
    seconds_left: float | None = None
    """`None` while nothing can be said of it."""
    trouble: str = ""
    """Why nothing comes at present, in a few words; it is tried again."""


class CancelledError(Exception):
    """The person wants the pull to stop; the pull turns it into its answer."""


class Watch:
    """Counts the bytes of one pull, and tells whoever wants to know."""

    def __init__(self, report: Callable[[Progress], None], cancel: Event, clock: Callable[[], float] = time.monotonic) -> None:
        self._report, self._cancel, self._clock = report, cancel, clock
        self._phase, self._model_id, self._path, self._trouble = Phase.CHECKING, "", "", ""
        self._done, self._total, self._received = 0, 0, 0
        self._recent: deque[tuple[float, int]] = deque()
        self._told = -_OFTEN

    def begin(self, phase: Phase, total: int, done: int = 0) -> None:
        """A new phase, of so many bytes in all, of which so many are there."""
        self._phase, self._total, self._done = phase, total, done
        self._recent.clear()
        self.tell()

    def turn_to(self, model_id: str, path: str) -> None:
        """This file comes next."""
        self._model_id, self._path = model_id, path
        self.tell()

    def learned(self, more: int) -> None:
        """The total is so many bytes more, or less, than was thought."""
        self._total += more

    def found(self, size: int) -> None:
        """So many bytes were there, or are of no use after all where it is negative."""
        self.heed()
        self._done += size
        self._tell_now_and_then()

    def came(self, size: int) -> None:
        """So many bytes came and were written down."""
        self._done += size
        self.passed(size)

    def passed(self, size: int) -> None:
        """So many bytes came, which were there already or are not written down yet."""
        self.heed()
        now = self._clock()
        self._trouble = ""
        self._received += size
        self._recent.append((now, size))
        while now - self._recent[0][0] > _WINDOW:
            self._recent.popleft()
        self._tell_now_and_then()

    def heed(self) -> None:
        """Raises `CancelledError` once the pull is to stop."""
        if self._cancel.is_set():
            raise CancelledError

    def wait(self, seconds: float, why: str) -> None:
        """Let some time pass because of a trouble; raises `CancelledError` as soon as the pull is to stop."""
        self._trouble = why
        self.tell()
        self._cancel.wait(seconds)
        self.heed()

    def tell(self) -> None:
        """Report this moment."""
        self._told = self._clock()
        self._report(self.progress)

    @property
    def progress(self) -> Progress:
        """This moment."""
        speed = self._speed()
        left = max(0, self._total - self._done)
        return Progress(
            phase=self._phase,
            done=self._done,
            total=self._total,
            received=self._received,
            model_id=self._model_id,
            path=self._path,
            speed=0.0 if self._trouble else speed,
            seconds_left=left / speed if speed > 0 and not self._trouble else None,
            trouble=self._trouble,
        )

    def _speed(self) -> float:
        if len(self._recent) < 2:
            return 0.0
        # What came first had been under way before its time was taken.
        span = self._clock() - self._recent[0][0]
        return sum(size for _, size in self._recent) / span if span > 0.5 else 0.0

    def _tell_now_and_then(self) -> None:
        if self._clock() - self._told >= _OFTEN:
            self.tell()

"""Which night's run is due: one a night, whatever the machine did meanwhile. Pure, but for the record that it keeps.

A night is named by the local date of its time of day, 03:30 as a rule. Whoever wakes after it, however late and after however many nights,
gets one run. The clocks' changes, another time zone and another time of day move the next run and never repeat one.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lean_memory.errors import LeanMemoryError
from lean_memory_bridge.nights import NightRecord, NightSettings, read_record, read_settings, write_record

ATTEMPTS = 3
"""How often a night's run is begun before the night is given up."""
_PAUSES = (600, 3600)
"""Seconds between two attempts. The first is longer than a lease lives without a heartbeat."""
LONGEST_BUSY = 360
"""How often in a row, once a minute, a run waits for a busy machine; then it runs all the same, as it is gentle."""
_SOON = 2 * 3600.0
"""Seconds before a night's moment in which a run that was missed is left to it."""
_LAST_TICK = 3.0
_CLOCK_WAS_WRONG = dt.timedelta(days=2)
_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run is over: whether it did what was to be done, and a sentence of what came of it."""

    well: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindrance:
    """What a due run waits for, as words that follow "waits for", and whether it may be waited for without end."""

    what: str
    lasting: bool


def moment_of(night: dt.date, at: dt.time, zone: dt.tzinfo) -> float:
    """When a night's run is due, in seconds since 1970. A time that the clocks skip is as long after midnight as on other days, the first of one they repeat counts."""
    return dt.datetime.combine(night, at, tzinfo=zone).timestamp()


def newest_night(now: float, at: dt.time, zone: dt.tzinfo) -> dt.date:
    """The last night whose moment is not after `now`."""
    today = dt.datetime.fromtimestamp(now, zone).date()
    return next(night for night in (today + _DAY, today, today - _DAY, today - 2 * _DAY) if moment_of(night, at, zone) <= now)


class Nightly:
    """Begins each night's run when it is due and nothing hinders it, and keeps the record. `tick` is called about once a minute.

    `begin` starts a run and gives a ticket for it; `look` gives the end of the run with that ticket, `None` while it goes on. Both may
    raise `LeanMemoryError`, which counts as a failed attempt. `hindrance` says what to wait for, if anything. `now` is in seconds since 1970.
    """

    def __init__(
        self,
        root: Path,
        *,
        begin: Callable[[], str],
        look: Callable[[str], Ended | None],
        hindrance: Callable[[], Hindrance | None],
        now: Callable[[], float],
        zone: Callable[[], dt.tzinfo],
        settings: Callable[[Path], NightSettings] = read_settings,
    ) -> None:
        self._root, self._begin, self._look, self._hindrance = root, begin, look, hindrance
        self._now, self._zone, self._settings = now, zone, settings
        self._ticket: str | None = None
        self._night: dt.date | None = None
        self._busy_for = 0
        self._turn = threading.Lock()
        self._has_ended = False
        self._record = read_record(root)

    @property
    def is_running(self) -> bool:
        """Whether a run that was begun here goes on."""
        return self._ticket is not None

    @property
    def record(self) -> NightRecord | None:
        """How the nights stand; `None` before the first tick of the first start."""
        return self._record

    def tick(self) -> None:
        """Do what is due now: see whether the run has ended, or begin one. Safe to call from several threads."""
        with self._turn:
            if self._has_ended:
                return
            settings, zone = self._settings(self._root), self._zone()
            if self._ticket is not None:
                self._see(self._ticket)
            self._follow(settings, zone)
            if self._ticket is None:
                self._begin_if_due(settings, zone)
            self._note_next(settings, zone)

    def plan(self) -> None:
        """Say when the next run is, where that is still to come, and begin none: what is owed waits for the first tick."""
        with self._turn:
            settings, zone = self._settings(self._root), self._zone()
            if self._has_ended:
                return
            self._follow(settings, zone)
            if self._next(settings, zone) > self._now():
                self._note_next(settings, zone)

    def end(self) -> None:
        """Say that no schedule runs any more, so that nothing is next; later ticks do nothing."""
        # A tick that waits for a service which is going does not hold up the end for long.
        mine = self._turn.acquire(timeout=_LAST_TICK)
        self._has_ended = True
        if self._record is not None:
            self._write(replace(self._record, next_at=None, waiting_for=""))
        if mine:
            self._turn.release()

    def run_now(self) -> bool:
        """Begin a run at the person's wish, whatever hinders; it counts for the night that is due, if one is. False while one goes on."""
        with self._turn:
            if self._ticket is not None:
                return False
            settings, zone = self._settings(self._root), self._zone()
            self._begin_run(newest_night(self._now(), settings.at, zone))
            self._note_next(settings, zone)
            return self._ticket is not None

    def _begin_if_due(self, settings: NightSettings, zone: dt.tzinfo) -> None:
        night = newest_night(self._now(), settings.at, zone)
        if settings.paused or not self._is_due(night, settings.at, zone):
            self._busy_for = 0
            self._wait_for("")
            return
        if self._known.trying == night.isoformat() and self._known.attempts >= ATTEMPTS:
            self._night = night
            self._over(Ended(well=False, sentence=self._known.sentence or "The run was cut off each time it was begun."))
            return
        hindrance = self._hindrance()
        if hindrance is not None and (hindrance.lasting or self._busy_for < LONGEST_BUSY):
            self._busy_for += not hindrance.lasting
            self._wait_for(hindrance.what)
            return
        self._busy_for = 0
        self._begin_run(night)

    def _follow(self, settings: NightSettings, zone: dt.tzinfo) -> None:
        """Reckon by the time of day that is set now, unless a night is due by the one before."""
        at, night = f"{settings.at:%H:%M}", newest_night(self._now(), settings.at, zone)
        if self._record is None:
            # Nobody expects a run at the moment of the first start.
            self._write(NightRecord(done=night.isoformat(), at=at))
        elif self._record.at != at:
            before = newest_night(self._now(), dt.time.fromisoformat(self._record.at), zone)
            self._write(replace(self._record, at=at, done=(night - _DAY if self._is_owed(before) else night).isoformat()))

    def _is_due(self, night: dt.date, at: dt.time, zone: dt.tzinfo) -> bool:
        record = self._known
        if moment_of(night + _DAY, at, zone) - self._now() < _SOON:
            return False
        if record.trying == night.isoformat() and record.again_at is not None and self._now() * 1000 < record.again_at:
            return False
        return self._is_owed(night)

    def _is_owed(self, night: dt.date) -> bool:
        if self._known.done is None:
            return True
        done = dt.date.fromisoformat(self._known.done)
        # A night far ahead was noted while the clock was wrong, and would hold up every run until then.
        return done < night or done > night + _CLOCK_WAS_WRONG

    def _begin_run(self, night: dt.date) -> None:
        record = self._known
        before = record.attempts if record.trying == night.isoformat() else 0
        pause = _PAUSES[min(before, len(_PAUSES) - 1)]
        # Noted before it begins, so that a run which takes the machine down is not begun for ever.
        self._write(
            replace(record, trying=night.isoformat(), attempts=before + 1, again_at=round((self._now() + pause) * 1000), waiting_for="")
        )
        self._night = night
        try:
            self._ticket = self._begin()
        except LeanMemoryError as error:
            self._over(Ended(well=False, sentence=str(error)))

    def _see(self, ticket: str) -> None:
        try:
            end = self._look(ticket)
        except LeanMemoryError as error:
            end = Ended(well=False, sentence=str(error))
        if end is not None:
            self._over(end)

    def _over(self, end: Ended) -> None:
        record, night, self._ticket = self._known, self._night, None
        if night is None or not (end.well or record.attempts >= ATTEMPTS):
            self._write(replace(record, sentence=end.sentence))
            return
        self._write(NightRecord(done=night.isoformat(), at=record.at, ended_at=round(self._now() * 1000), sentence=end.sentence))

    def _wait_for(self, what: str) -> None:
        if self._known.waiting_for != what:
            self._write(replace(self._known, waiting_for=what))

    def _note_next(self, settings: NightSettings, zone: dt.tzinfo) -> None:
        next_at = None if settings.paused else round(self._next(settings, zone) * 1000)
        if self._known.next_at != next_at:
            self._write(replace(self._known, next_at=next_at))

    def _next(self, settings: NightSettings, zone: dt.tzinfo) -> float:
        night = newest_night(self._now(), settings.at, zone)
        if self._ticket is None and self._known.trying == night.isoformat() and self._known.again_at is not None:
            return self._known.again_at / 1000
        if self._ticket is None and self._is_due(night, settings.at, zone):
            return moment_of(night, settings.at, zone)
        done = dt.date.fromisoformat(self._known.done) if self._known.done is not None else night
        ahead = max(night, done) if done <= night + _CLOCK_WAS_WRONG else night
        return moment_of(ahead + _DAY, settings.at, zone)

    @property
    def _known(self) -> NightRecord:
        return self._record or NightRecord()

    def _write(self, record: NightRecord) -> None:
        write_record(self._root, record)
        self._record = record

"""A machine whose clock, zone, battery and runs a test commands, with the nightly schedule living on it minute by minute."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

from lean_memory.errors import LeanMemoryError
from lean_memory_bridge.nights import NightRecord, read_record, read_settings
from lean_memory_desktop.nightly import Ended, Hindrance, Nightly

MINUTE = 60


class AwayError(LeanMemoryError):
    """The service of the simulated machine does not answer."""


@dataclass(kw_only=True)
class Machine:
    """`at` is its local date and time at the beginning. Every run that begins is noted by its local time in `runs`."""

    root: Path
    zone: str
    at: str
    beat: int = 1
    """Minutes between two looks at the clock."""
    run_minutes: int = 2
    hindrance: Hindrance | None = None
    service_answers: bool = True
    runs_end_well: bool = True
    runs: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.now = dt.datetime.fromisoformat(self.at).replace(tzinfo=ZoneInfo(self.zone)).timestamp()
        self._going: dict[str, float] = {}
        self.switch_on()

    def switch_on(self) -> None:
        """Start the schedule anew, as after a restart; it knows what stands in the files alone."""
        self._going.clear()
        self.nightly = Nightly(
            self.root,
            begin=self._begin,
            look=self._look,
            hindrance=lambda: self.hindrance,
            now=lambda: self.now,
            zone=lambda: ZoneInfo(self.zone),
            settings=lambda root: read_settings(root, {}),
        )

    def live(self, *, minutes: int = 0, hours: float = 0, days: float = 0) -> None:
        """Be awake for so long of real time, looking at the clock every minute, or every `beat`."""
        for _ in range((minutes + round((hours + 24 * days) * 60)) // self.beat):
            self.now += self.beat * MINUTE
            self.nightly.tick()

    def live_until(self, at: str) -> None:
        """Be awake until a local date and time."""
        until = dt.datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(self.zone)).timestamp()
        while self.now < until:
            self.live(minutes=self.beat)

    def be_off_until(self, at: str) -> None:
        """Sleep, or be switched off, until a local date and time."""
        self.now = dt.datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(self.zone)).timestamp()

    @property
    def local(self) -> str:
        """What the clock on the wall shows."""
        return self.shown(self.now)

    def shown(self, moment: float) -> str:
        """A moment as the clock on the wall shows it."""
        return dt.datetime.fromtimestamp(moment, ZoneInfo(self.zone)).strftime("%Y-%m-%d %H:%M")

    @property
    def record(self) -> NightRecord:
        """What stands in the file."""
        held = read_record(self.root)
        assert held is not None
        return held

    @property
    def next(self) -> str | None:
        """When the next run is due, as the record says."""
        return None if self.record.next_at is None else self.shown(self.record.next_at / 1000)

    def _begin(self) -> str:
        if not self.service_answers:
            raise AwayError("The service does not answer.")
        self.runs.append(self.local)
        self._going[self.local] = self.now + self.run_minutes * MINUTE
        return self.local

    def _look(self, ticket: str) -> Ended | None:
        if not self.service_answers or ticket not in self._going:
            raise AwayError("The service does not answer.")
        if self.now < self._going[ticket]:
            return None
        return Ended(well=self.runs_end_well, sentence="Tidied." if self.runs_end_well else "The disk is full.")

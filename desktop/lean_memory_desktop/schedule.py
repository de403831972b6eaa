"""Calls the nightly run at its time, and looks at the wall clock every minute, as timers stand still while a machine sleeps.

Jobs live in memory only. Which night is done stands in the record of `Nightly`, so nothing is missed or repeated by a restart.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal
from apscheduler.schedulers.background import BackgroundScheduler  # pyright: ignore[reportMissingTypeStubs] - there are none
from apscheduler.triggers.date import DateTrigger  # pyright: ignore[reportMissingTypeStubs]
from apscheduler.triggers.interval import IntervalTrigger  # pyright: ignore[reportMissingTypeStubs]

from lean_memory.settings import read_settings
from lean_memory_bridge.refusals import UnreachableError
from lean_memory_desktop.machine import Machine
from lean_memory_desktop.nightly import Ended, Nightly

if TYPE_CHECKING:
    from lean_memory_bridge.maintenance_client import MaintenanceClient

HEARTBEAT = 60.0
"""Seconds between two looks at the clock. The first look is one heartbeat after the start, so that nothing runs at the moment of a login."""
_PATIENCE = 10.0
_ANY_TIME = None
"""APScheduler's default drops a job that is a second late."""


class Schedule:
    """Keeps `nightly` ticking until `stop`."""

    def __init__(self, nightly: Nightly, *, heartbeat: float = HEARTBEAT) -> None:
        self.nightly = nightly
        self._scheduler: Any = BackgroundScheduler(
            timezone=dt.UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": _ANY_TIME}
        )
        every: Any = IntervalTrigger
        self._scheduler.add_job(self._beat, every(seconds=heartbeat, timezone=dt.UTC), id="heartbeat")
        # The first beat is a while off, and nobody should read until then that nothing is planned.
        self._scheduler.add_job(nightly.plan, id="plan")

    def start(self) -> None:
        """Begin to look at the clock, in a thread of its own."""
        self._scheduler.start()

    def stop(self) -> None:
        """Look at it no more. A run that goes on is the service's and ends with it."""
        self._scheduler.shutdown(wait=False)
        self.nightly.end()

    def _beat(self) -> None:
        self.nightly.tick()
        record = self.nightly.record
        if record is not None and record.next_at is not None and record.next_at > time.time() * 1000:
            due = DateTrigger(dt.datetime.fromtimestamp(record.next_at / 1000, dt.UTC))
            # The heartbeat alone would be up to a minute late.
            self._scheduler.add_job(self.nightly.tick, due, id="nightly", replace_existing=True)


def schedule_of(root: Path, *, heartbeat: float = HEARTBEAT, machine: Machine | None = None) -> Schedule:
    """The schedule of a data root, on the wall clock, of runs that its service does."""
    configured = read_settings(root).timezone
    nightly = Nightly(
        root,
        begin=lambda: _begin(root),
        look=lambda ticket: _look(root, ticket),
        hindrance=(machine or Machine()).hindrance,
        now=time.time,
        zone=lambda: local_zone(configured),
    )
    return Schedule(nightly, heartbeat=heartbeat)


def local_zone(configured: str | None) -> dt.tzinfo:
    """The zone the person lives in now: the one they set, else this computer's, which may have moved since the last look."""
    for look in (lambda: ZoneInfo(configured) if configured is not None else None, tzlocal.reload_localzone):
        with contextlib.suppress(ZoneInfoNotFoundError, ValueError, OSError):
            found = look()
            if found is not None:
                return found
    return dt.UTC


def _begin(root: Path) -> str:
    """Let the service tidy every namespace. Raises `LeanMemoryError`."""
    # Loaded when a run is due, as the supervisor is there all day.
    from lean_memory_bridge.schemas.maintenance import MaintainRequest

    asked = MaintainRequest(every=True, apply=True, trigger="nightly", wait=0)
    return _service(root).run_maintenance(asked).id


def _look(root: Path, ticket: str) -> Ended | None:
    """How the run with this ticket ended, if it has. Raises `LeanMemoryError`, also where the service was started anew since."""
    job = _service(root).job(ticket)
    if job.state == "running":
        return None
    held = any(report.state == "held" for report in job.reports)
    return Ended(well=job.state != "failed" and not held, sentence=job.sentence)


def _service(root: Path) -> MaintenanceClient:
    from lean_memory_bridge.maintenance_client import MaintenanceClient

    found = MaintenanceClient.find(root, timeout=_PATIENCE)
    if found is None:
        raise UnreachableError("The memory service did not answer when the nightly run was due.")
    return found

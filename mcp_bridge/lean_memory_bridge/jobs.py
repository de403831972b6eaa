"""Maintenance in the background: runs that take longer than an answer may, so that no client waits for one."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lean_memory.errors import LeanMemoryError, NotFoundError
from lean_memory.service import MemoryService
from lean_memory_bridge.background import Background, Job, State
from lean_memory_bridge.maintenance_views import failed_view, report_view
from lean_memory_bridge.schemas.maintenance import MaintainRequest, MaintenanceJob, ReportView

log = logging.getLogger(__name__)

AT_ONCE = 2
MOST = 20
"""Jobs that may go on or wait."""
KEPT = 50
"""Jobs whose outcome can be asked for."""
_NEWS_EVERY = 0.25
"""Seconds between two pieces of news of one job's progress."""


@dataclass(eq=False, kw_only=True)
class _Job(Job):
    asked: MaintainRequest
    namespaces: Sequence[str]
    started_at: int
    ended_at: int | None = None
    namespace: str | None = None
    progress: float | None = None
    reports: list[ReportView] = field(default_factory=list[ReportView])
    told_at: float = 0.0


class Jobs:
    """The maintenance that the service was asked for. `changed` is called, from any thread, whenever a job stands otherwise."""

    def __init__(self, memory: MemoryService, changed: Callable[[], None]) -> None:
        self._memory, self._changed = memory, changed
        self._jobs = Background[_Job](self._carry_out, self._over, name="maintenance", at_once=AT_ONCE, most=MOST, kept=KEPT)

    def begin(self, asked: MaintainRequest, namespaces: Sequence[str]) -> str:
        """Begin to tidy these namespaces in turn; gives the job's id. Raises `TooManyCallsError`, and `ClosedError` while the service ends."""
        job = _Job(asked=asked, namespaces=tuple(namespaces), started_at=_now())
        self._jobs.begin(job)
        self._changed()
        return job.id

    async def wait(self, job_id: str, seconds: float) -> MaintenanceJob:
        """The job once it has ended, or as it stands after so many seconds. Raises `NotFoundError`."""
        job = self._jobs.named(job_id)
        deadline = time.monotonic() + seconds
        while not job.ended.is_set() and time.monotonic() < deadline:
            # A wait in a thread would take one of the few that the event loop has.
            await asyncio.sleep(0.05)
        return self.look(job_id)

    def look(self, job_id: str) -> MaintenanceJob:
        """How a job stands. Raises `NotFoundError` for one that this process does not know."""
        job = self._jobs.named(job_id)
        return MaintenanceJob(
            id=job.id,
            state="cancelled" if job.state == "stopped" else job.state,
            dry_run=not job.asked.apply,
            trigger=job.asked.trigger,
            started_at=job.started_at,
            ended_at=job.ended_at,
            namespace=job.namespace,
            progress=job.progress,
            reports=tuple(job.reports),
            sentence=job.sentence,
        )

    def cancel(self, namespace: str) -> bool:
        """Ask the jobs that are at a namespace to end there; of one that tidies several, the others follow. Whether there was one."""
        found = [job for job in self._jobs.every() if job.state == "running" and job.namespace == namespace]
        for job in found:
            job.cancelled.set()
        return bool(found)

    def close(self) -> None:
        """Ask every job to end, and wait for it."""
        self._jobs.close()

    def _carry_out(self, job: _Job) -> None:
        troubles = self._back_up(job)
        for namespace in job.namespaces:
            if self._jobs.is_closing:
                break
            job.namespace, job.progress = namespace, 0.0
            job.cancelled.clear()
            job.reports.append(self._tidy(job, namespace))
            self._changed()
        job.ended_at, job.progress = _now(), None
        state, sentence = _outcome(job.reports, whole=len(job.reports) == len(job.namespaces))
        job.sentence = " ".join([*troubles, sentence])
        job.state = state

    def _over(self, job: _Job) -> None:
        job.ended_at, job.progress = job.ended_at or _now(), None
        self._changed()

    def _back_up(self, job: _Job) -> list[str]:
        """Before a night's run everything is backed up; what hinders that is told, and the run goes on: all that it does can be taken back."""
        if job.asked.trigger != "nightly" or not job.asked.apply:
            return []
        try:
            left_out = self._memory.backup(occasion="nightly").left_out
            self._memory.drop_old_backups()
        except NotFoundError:
            return []
        except LeanMemoryError as error:
            log.warning("The nightly backup failed: %s", type(error).__name__)
            return [f"There is no backup of this night: {error}"]
        return [f"Not backed up: {sentence}" for sentence in left_out]

    def _tidy(self, job: _Job, namespace: str) -> ReportView:
        """Tidy one namespace; one that cannot be used leaves the others their turn."""
        asked, started_at = job.asked, _now()
        try:
            reports = self._memory.maintain(
                namespace,
                apply=asked.apply,
                auto_only=asked.auto_only,
                force=asked.force,
                trigger=asked.trigger,
                progress=lambda done: self._at(job, done),
                cancelled=lambda: job.cancelled.is_set() or self._jobs.is_closing,
            )
        except LeanMemoryError as error:
            log.warning("Maintenance failed: %s", type(error).__name__)
            return failed_view(namespace, asked, started_at=started_at, ended_at=_now(), error=error)
        return report_view(reports[0])

    def _at(self, job: _Job, done: float) -> None:
        job.progress = done
        if time.monotonic() - job.told_at > _NEWS_EVERY:
            job.told_at = time.monotonic()
            self._changed()


def _outcome(reports: Sequence[ReportView], *, whole: bool) -> tuple[State, str]:
    """How a job ended, and what it says of itself."""
    sentence = " ".join(f"{report.namespace}: {report.sentence}" for report in reports) or "There was nothing to tidy."
    if any(report.state == "failed" for report in reports):
        return "failed", sentence
    if not whole or any(report.state == "cancelled" for report in reports):
        return "stopped", sentence
    return "done", sentence


def _now() -> int:
    return time.time_ns() // 1_000_000

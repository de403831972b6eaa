"""Bringing in, in the background: a large export takes minutes, is told of meanwhile, and can be stopped and gone on with."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from lean_memory.bringing_in import DEFAULT, Report, State, came_before
from lean_memory.errors import LeanMemoryError
from lean_memory.service import MemoryService
from lean_memory_bridge.background import Background, Job
from lean_memory_bridge.schemas.custody import BringInJob, BringInRequest, BroughtInView

log = logging.getLogger(__name__)

MOST = 5
"""Jobs that may go on or wait; one at a time goes on."""
KEPT = 20


@dataclass(eq=False, kw_only=True)
class _Job(Job):
    asked: BringInRequest
    source: Path
    finished: Callable[[], None]
    """Called once all of it is in."""
    progress: float | None = None
    report: BroughtInView | None = None
    into: tuple[str, ...]
    """The namespaces that may hold more by it. Where a defect breaks it off nobody knows how far it came, so it begins with what was asked."""


class BringInJobs:
    """What the service was asked to bring in. `changed` is called, from any thread, with the namespaces that hold more when a job has ended."""

    def __init__(self, memory: MemoryService, changed: Callable[[tuple[str, ...]], None]) -> None:
        self._memory = memory
        self._jobs = Background[_Job](self._carry_out, lambda job: changed(job.into), name="bring-in", at_once=1, most=MOST, kept=KEPT)

    def begin(self, asked: BringInRequest, source: Path, finished: Callable[[], None]) -> BringInJob:
        """Begin to look at something, or with `apply` to bring it in. Raises `TooManyCallsError`, and `ClosedError` while the service ends."""
        into = (asked.namespace or DEFAULT,) if asked.apply else ()
        job = _Job(asked=asked, source=source, finished=finished, into=into)
        self._jobs.begin(job)
        return _view(job)

    def look(self, job_id: str) -> BringInJob:
        """How a job stands. Raises `NotFoundError`."""
        return _view(self._jobs.named(job_id))

    def every(self) -> tuple[BringInJob, ...]:
        """Every job that is remembered, newest first."""
        return tuple(map(_view, self._jobs.every()))

    def cancel(self, job_id: str) -> BringInJob:
        """Ask a job to stop; what it brought in stays, and the same goes on from there. Raises `NotFoundError`."""
        job = self._jobs.named(job_id)
        job.cancelled.set()
        return _view(job)

    def uses(self, upload: str) -> bool:
        """Whether a job still reads an upload, or waits to."""
        return any(job.state == "running" and job.asked.upload == upload for job in self._jobs.every())

    def close(self) -> None:
        """Ask every job to stop, and wait for it; those that wait their turn are not begun."""
        self._jobs.close()

    def _carry_out(self, job: _Job) -> None:
        try:
            report = self._report(job)
            _came(job, report)
            # A look that was broken off has not seen all of it; a deed says by itself how far it came.
            broken_off = report.state is State.STOPPED or (job.cancelled.is_set() and not job.asked.apply)
            if not broken_off and job.asked.apply:
                job.finished()
            job.state = "stopped" if broken_off else "done"
        except LeanMemoryError as error:
            log.info("Bringing in ended (%s).", type(error).__name__)
            _came(job, came_before(error))
            # A stop may be told as an error of whatever was being read.
            job.sentence = str(error)
            job.state = "failed"

    def _report(self, job: _Job) -> Report:
        do = self._memory.bring_in if job.asked.apply else self._memory.preview_bring_in

        def at(done: int, whole: int) -> None:
            job.progress = min(1.0, done / whole) if whole > 0 else None

        return do(
            job.source,
            kind=job.asked.kind,
            namespace=job.asked.namespace,
            progress=at,
            cancelled=lambda: job.cancelled.is_set() or self._jobs.is_closing,
        )


def _came(job: _Job, report: Report | None) -> None:
    """Keep what a job tells, and which namespaces may hold more by it."""
    job.report = None if report is None else BroughtInView.model_validate(asdict(report))
    job.into = report.namespaces if report is not None and job.asked.apply else ()


def _view(job: _Job) -> BringInJob:
    return BringInJob(
        id=job.id,
        state=job.state,
        apply=job.asked.apply,
        path=job.asked.path,
        upload=job.asked.upload,
        namespace=job.asked.namespace,
        progress=job.progress,
        report=job.report,
        sentence=job.sentence,
    )

"""Bringing in, in the background: a large export takes minutes, is told of meanwhile, and can be stopped and gone on with."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from lean_memory.bringing_in import DEFAULT, Report, State, came_before
from lean_memory.errors import ClosedError, LeanMemoryError, NotFoundError
from lean_memory.service import MemoryService
from lean_memory_bridge.refusals import TooManyCallsError
from lean_memory_bridge.schemas.custody import BringInJob, BringInRequest, BroughtInView

log = logging.getLogger(__name__)

MOST = 5
"""Jobs that may go on or wait; one at a time goes on."""
KEPT = 20


@dataclass(eq=False, kw_only=True)
class _Job:
    id: str
    asked: BringInRequest
    source: Path
    finished: Callable[[], None]
    """Called once all of it is in."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    state: Literal["running", "done", "stopped", "failed"] = "running"
    progress: float | None = None
    report: BroughtInView | None = None
    sentence: str = ""


class BringInJobs:
    """What the service was asked to bring in. `changed` is called, from any thread, with the namespaces that hold more when a job has ended."""

    def __init__(self, memory: MemoryService, changed: Callable[[tuple[str, ...]], None]) -> None:
        self._memory, self._changed = memory, changed
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="bring-in")
        self._jobs: OrderedDict[str, _Job] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def begin(self, asked: BringInRequest, source: Path, finished: Callable[[], None]) -> BringInJob:
        """Begin to look at something, or with `apply` to bring it in. Raises `TooManyCallsError`, and `ClosedError` while the service ends."""
        job = _Job(id=secrets.token_hex(8), asked=asked, source=source, finished=finished)
        with self._lock:
            if self._closing.is_set():
                raise ClosedError("The service is ending, so nothing more is brought in. Start it anew and try again.")
            if sum(one.state == "running" for one in self._jobs.values()) >= MOST:
                raise TooManyCallsError(
                    "So much is being brought in already that this was not taken. Try again when some of it has ended.", 60.0
                )
            self._jobs[job.id] = job
            over = [one.id for one in self._jobs.values() if one.state != "running"]
            for job_id in over[: max(0, len(self._jobs) - KEPT)]:
                del self._jobs[job_id]
            going = self._threads.submit(self._carry_out, job)
        going.add_done_callback(_log_crash)
        return self.look(job.id)

    def look(self, job_id: str) -> BringInJob:
        """How a job stands. Raises `NotFoundError`."""
        return _view(self._named(job_id))

    def every(self) -> tuple[BringInJob, ...]:
        """Every job that is remembered, newest first."""
        with self._lock:
            return tuple(_view(job) for job in reversed(self._jobs.values()))

    def cancel(self, job_id: str) -> BringInJob:
        """Ask a job to stop; what it brought in stays, and the same goes on from there. Raises `NotFoundError`."""
        self._named(job_id).cancelled.set()
        return self.look(job_id)

    def uses(self, upload: str) -> bool:
        """Whether a job still reads an upload, or waits to."""
        with self._lock:
            return any(job.state == "running" and job.asked.upload == upload for job in self._jobs.values())

    def close(self) -> None:
        """Ask every job to stop, and wait for it; those that wait their turn are not begun."""
        with self._lock:
            self._closing.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for job in self._jobs.values():
            if job.state == "running":
                job.state = "stopped"

    def _carry_out(self, job: _Job) -> None:
        # Where a defect breaks it off nobody knows how far it came, and what may hold more is taken as holding more.
        into: tuple[str, ...] = (job.asked.namespace or DEFAULT,) if job.asked.apply else ()
        try:
            report = self._report(job)
            into = _came(job, report)
            # A look that was broken off has not seen all of it; a deed says by itself how far it came.
            broken_off = report.state is State.STOPPED or (job.cancelled.is_set() and not job.asked.apply)
            job.state = "stopped" if broken_off else "done"
            if job.state == "done" and job.asked.apply:
                job.finished()
        except LeanMemoryError as error:
            log.info("Bringing in ended (%s).", type(error).__name__)
            into = _came(job, came_before(error))
            # A stop may be told as an error of whatever was being read.
            job.state, job.sentence = "failed", str(error)
        finally:
            if job.state == "running":
                job.state, job.sentence = "failed", "It broke off at a defect of the program; the log of the service tells more."
            self._changed(into)

    def _report(self, job: _Job) -> Report:
        do = self._memory.bring_in if job.asked.apply else self._memory.preview_bring_in

        def at(done: int, whole: int) -> None:
            job.progress = min(1.0, done / whole) if whole > 0 else None

        return do(
            job.source,
            kind=job.asked.kind,
            namespace=job.asked.namespace,
            progress=at,
            cancelled=lambda: job.cancelled.is_set() or self._closing.is_set(),
        )

    def _named(self, job_id: str) -> _Job:
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise NotFoundError("Nothing of this name is being brought in: the service was started anew since, or it is long over.")
        return job


def _came(job: _Job, report: Report | None) -> tuple[str, ...]:
    """Keep what a job tells; gives the namespaces that may hold more by it."""
    job.report = None if report is None else BroughtInView.model_validate(asdict(report))
    return report.namespaces if report is not None and job.asked.apply else ()


def _view(job: _Job) -> BringInJob:
    return BringInJob(id=job.id, state=job.state, apply=job.asked.apply, progress=job.progress, report=job.report, sentence=job.sentence)


def _log_crash(future: Future[None]) -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None:
        log.error("Bringing in broke off: %s", type(error).__name__, exc_info=error)

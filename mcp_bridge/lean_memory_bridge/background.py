"""Work that takes longer than an answer may: in threads of its own, so that nobody waits for it, and asked for by its id while it is remembered."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from lean_memory.errors import ClosedError, NotFoundError
from lean_memory_bridge.refusals import TooManyCallsError

log = logging.getLogger(__name__)

State = Literal["running", "done", "stopped", "failed"]
_DEFECT = "It broke off at a defect of the program; the log of the service tells more."
_UNBEGUN = "It was not begun, as the service ended first."


@dataclass(eq=False, kw_only=True)
class Job:
    """One piece of such work."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: State = "running"
    """Also while it waits for its turn."""
    sentence: str = ""
    """What it says of its end."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """It was asked to end early."""
    ended: threading.Event = field(default_factory=threading.Event)


J = TypeVar("J", bound=Job)


class Background(Generic[J]):
    """Jobs of one kind: `at_once` of them go on, `most` may go on or wait, and the last `kept` are remembered."""

    def __init__(self, carry_out: Callable[[J], None], over: Callable[[J], None], *, name: str, at_once: int, most: int, kept: int) -> None:
        """`carry_out` does a job and says in it how it ended; `over` is called afterwards, whatever became of it. Both in a thread of the jobs."""
        self._carry_out, self._over = carry_out, over
        self._most, self._kept = most, kept
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._jobs: OrderedDict[str, J] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = threading.Event()

    @property
    def is_closing(self) -> bool:
        """Whether every job is to end."""
        return self._closing.is_set()

    def begin(self, job: J) -> None:
        """Begin a job in its turn. Raises `TooManyCallsError`, and `ClosedError` while the service ends; it is not remembered then."""
        with self._lock:
            if self.is_closing:
                raise ClosedError("The service is ending, so this was not begun. Start it anew and try again.")
            if sum(not one.ended.is_set() for one in self._jobs.values()) >= self._most:
                raise TooManyCallsError("So much of this goes on or waits already that it was not taken. Try again in a minute.", 60.0)
            self._jobs[job.id] = job
            self._drop_old()
            # Within the lock, as no thread takes anything once it is closed.
            going = self._threads.submit(self._run, job)
        going.add_done_callback(_log_crash)

    def named(self, job_id: str) -> J:
        """A job by its id. Raises `NotFoundError` for one that this process does not know."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise NotFoundError(f"There is no job {job_id[:40]!r}: the service was started anew since, or it is long over.")
        return job

    def every(self) -> tuple[J, ...]:
        """Every job that is remembered, newest first."""
        with self._lock:
            return tuple(reversed(self._jobs.values()))

    def close(self) -> None:
        """Ask every job to end, and wait for it; those that wait for their turn are not begun."""
        with self._lock:
            self._closing.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for job in self.every():
            if not job.ended.is_set():
                job.sentence = _UNBEGUN
                job.state = "stopped"
                job.ended.set()

    def _run(self, job: J) -> None:
        try:
            self._carry_out(job)
        finally:
            if job.state == "running":
                job.sentence = _DEFECT
                job.state = "failed"
            job.ended.set()
            self._over(job)

    def _drop_old(self) -> None:
        over = [job.id for job in self._jobs.values() if job.ended.is_set()]
        for job_id in over[: max(0, len(self._jobs) - self._kept)]:
            del self._jobs[job_id]


def _log_crash(future: Future[None]) -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None:
        log.error("Work in the background broke off: %s", type(error).__name__, exc_info=error)

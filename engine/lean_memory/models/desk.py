"""Where models compute: one thing at a time, what somebody waits for before what is done in the background."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from lean_memory.errors import ModelUnavailableError

T = TypeVar("T")


@dataclass(order=True)
class _Job:
    order: tuple[int, int]
    until: float = field(compare=False)
    work: Callable[[], Any] | None = field(compare=False)
    result: Future[Any] = field(compare=False, default_factory=Future[Any])


class Desk:
    """One thread that computes. A thread for each caller would give each its own crew of cores, and its own share of memory for good."""

    def __init__(self) -> None:
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        threading.Thread(target=self._run, name="desk", daemon=True).start()

    def do(self, work: Callable[[], T], *, urgent: bool, until: float) -> T:
        """What `work` gives, or raises. Raises `ModelUnavailableError` where it has not ended at `until`, in monotonic seconds."""
        job = _Job(order=(0 if urgent else 1, next(self._numbers)), until=until, work=work)
        self._jobs.put(job)
        try:
            return job.result.result(max(0.0, until - monotonic()))
        except (TimeoutError, CancelledError):
            if not job.result.done() or job.result.cancelled():
                job.result.cancel()
                raise ModelUnavailableError("The model is busy and could not answer in time.") from None
            raise

    def close(self) -> None:
        """End the thread once it has done what it is at."""
        self._jobs.put(_Job(order=(-1, next(self._numbers)), until=0.0, work=None))

    def _run(self) -> None:
        while (job := self._jobs.get()).work is not None:
            if monotonic() > job.until:
                job.result.cancel()
            elif job.result.set_running_or_notify_cancel():
                _settle(job.result, job.work)
            # Not to be kept until the next one comes: it holds the model, and what it read.
            del job


def _settle(result: Future[Any], work: Callable[[], Any]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits, whatever it is
        result.set_exception(error)

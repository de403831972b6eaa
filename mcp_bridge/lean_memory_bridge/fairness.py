"""Engine calls off the event loop: in turn between clients, one writer per namespace, nobody without a bound."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lean_memory_bridge.refusals import TooManyCallsError

T = TypeVar("T")

LONGEST_QUEUE = 64
"""Calls of one client that may wait; the next one is refused."""


@dataclass(eq=False)
class _Job(Generic[T]):
    work: Callable[[], T]
    alone: str | None
    started: Callable[[], None] | None
    answer: asyncio.Future[T]


class FairQueue:
    """Runs work in threads. Of the clients that have work waiting, each gets its turn, however much another one sends.

    The work of one client starts in the order it came. Work that writes names the namespace it wants `alone`: no other work that names
    it runs meanwhile. Belongs to one event loop.
    """

    def __init__(self, executor: Executor, *, at_once: int, longest: int = LONGEST_QUEUE) -> None:
        self._executor, self._at_once, self._longest = executor, at_once, longest
        self._waiting: OrderedDict[str, deque[_Job[Any]]] = OrderedDict()
        self._running = 0
        self._taken: set[str] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self, client: str, work: Callable[[], T], *, alone: str | None = None, started: Callable[[], None] | None = None) -> T:
        """The result of `work`; `started` is called when its turn has come. Raises `TooManyCallsError` at once where the client's queue is full.

        Cancelled before it starts, the work is dropped; once started it runs to its end, whoever still waits for it.
        """
        jobs = self._waiting.setdefault(client, deque())
        if len(jobs) >= self._longest:
            raise TooManyCallsError(
                f"{self._longest} calls of {client} are waiting already, so this one was not taken. Try again in a second.", 1.0
            )
        job = _Job(work=work, alone=alone, started=started, answer=asyncio.get_running_loop().create_future())
        jobs.append(job)
        self._idle.clear()
        self._start()
        return await job.answer

    async def drained(self) -> None:
        """Return when nothing waits and nothing runs."""
        await self._idle.wait()

    def _start(self) -> None:
        while self._running < self._at_once:
            job = self._next()
            if job is None:
                break
            self._running += 1
            if job.alone is not None:
                self._taken.add(job.alone)
            if job.started is not None:
                job.started()
            running = asyncio.get_running_loop().run_in_executor(self._executor, job.work)
            running.add_done_callback(lambda done, job=job: self._ended(job, done))
        if not self._running and not self._waiting:
            self._idle.set()

    def _next(self) -> _Job[Any] | None:
        """The first job of the client whose turn it is and whose first job may run; that client goes to the end of the row."""
        for client in list(self._waiting):
            jobs = self._waiting[client]
            while jobs and jobs[0].answer.done():
                jobs.popleft()
            if not jobs:
                del self._waiting[client]
            elif jobs[0].alone not in self._taken:
                job = jobs.popleft()
                self._waiting.move_to_end(client)
                if not jobs:
                    del self._waiting[client]
                return job
        return None

    def _ended(self, job: _Job[Any], done: asyncio.Future[Any]) -> None:
        self._running -= 1
        if job.alone is not None:
            self._taken.discard(job.alone)
        error = done.exception()
        if not job.answer.done():
            if error is None:
                job.answer.set_result(done.result())
            else:
                job.answer.set_exception(error)
        self._start()

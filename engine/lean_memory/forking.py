"""No open file is carried over a fork: what locks a process holds on a file, its child does not.

SQLite keeps its own account of the locks of a process, and a child inherits the account with none of the locks. It would write beside
its parent and lose what it wrote when the parent closes, also to a file that it opens itself, as long as it has inherited a connection
to it. So whatever holds files lets go of them before its process forks; parent and child open them again when they need them.
A lock that another thread holds would be held in the child for good, as that thread is not there.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Condition, Lock, RLock
from weakref import WeakSet

if sys.platform != "win32":
    import os


class HoldsFiles(ABC):
    """Something that lets go of its files before the process forks, once it is watched."""

    @abstractmethod
    def before_fork(self) -> None:
        """Close the files, and let no other thread open them. If it raises, the others are told all the same, and `after_fork` follows."""

    @abstractmethod
    def after_fork(self, *, in_child: bool) -> None:
        """Let the files be opened again, in the parent and in the child."""


class Mutex:
    """A lock for a few steps in memory, for `with mutex.held:`; in a forked child it is held by nobody but the thread that forked.

    `held` is a lock of the interpreter itself: Ctrl-C comes between its steps and those of a lock written in Python, which then stays
    held for good.
    """

    def __init__(self) -> None:
        self.held = RLock()
        _mutexes().add(self)

    def renew(self) -> None:
        """Let it go, in a child in which its holder is not there."""
        if self.held.acquire(blocking=False):
            self.held.release()
        else:
            self.held = RLock()


class Gate:
    """What passes through it holds files of its own, and is waited for before a fork."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._inside: list[str] = []
        self._shut = False

    @contextmanager
    def through(self, name: str) -> Generator[None]:
        """At work under a name; waits while the gate is shut."""
        with self._lock:
            self._changed.wait_for(lambda: not self._shut)
            self._inside.append(name)
        try:
            yield
        finally:
            with self._lock:
                self._inside.remove(name)
                self._changed.notify_all()

    def shut(self, deadline: float) -> frozenset[str]:
        """Let nobody in, and wait until the deadline, on the monotonic clock, for those inside; gives the names of those who stay."""
        with self._lock:
            self._shut = True
            self._changed.wait_for(lambda: not self._inside, timeout=max(0.0, deadline - time.monotonic()))
            return frozenset(self._inside)

    def open(self) -> None:
        """Let everybody in again."""
        with self._lock:
            self._shut = False
            self._changed.notify_all()


def watch(holder: HoldsFiles) -> None:
    """Have a holder told of forks for as long as it lives."""
    _watched().add(holder)


@cache
def _watched() -> WeakSet[HoldsFiles]:
    """Those that are told. There is one such set in a process, as what is registered with Python for a fork stays registered."""
    watched: WeakSet[HoldsFiles] = WeakSet()

    def before() -> None:
        with ExitStack() as every:
            for holder in list(watched):
                every.callback(holder.before_fork)

    def after(*, in_child: bool) -> None:
        with ExitStack() as every:
            for holder in list(watched):
                every.callback(holder.after_fork, in_child=in_child)

    if sys.platform != "win32":
        os.register_at_fork(before=before, after_in_parent=lambda: after(in_child=False), after_in_child=lambda: after(in_child=True))
    return watched


@cache
def _mutexes() -> WeakSet[Mutex]:
    """Those that are renewed in a child; one such set in a process, as above."""
    mutexes: WeakSet[Mutex] = WeakSet()

    def renew() -> None:
        for mutex in list(mutexes):
            mutex.renew()

    if sys.platform != "win32":
        os.register_at_fork(after_in_child=renew)
    return mutexes

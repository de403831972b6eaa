"""The namespaces that one memory has open, who is at work in them, and what becomes of them when the process forks."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from weakref import WeakSet

from lean_memory.arguments import name_of
from lean_memory.errors import ClosedError, quoted
from lean_memory.forking import Gate, HoldsFiles, watch
from lean_memory.open_namespace import OpenNamespace

KEPT_OPEN = 32
"""Namespaces that stay open, the last used ones; each holds some file handles and its index in memory."""

_FORK_WAITS_SECONDS = 5.0
_CLEARING_WAITS_SECONDS = 1.0
_LOOKS_EVERY_SECONDS = 0.001
_ALL = ""
"""Stands for all namespaces; none has such a name."""


class OpenNamespaces(HoldsFiles):
    """Namespaces by name, each opened by whoever begins to work in it. Thread-safe; told of forks as long as it lives."""

    def __init__(self, made: Callable[[str], OpenNamespace]) -> None:
        self._made = made
        self._open: OrderedDict[str, OpenNamespace] = OrderedDict()
        self.every: WeakSet[OpenNamespace] = WeakSet()
        """All that somebody may still be at work in."""
        self._lock = threading.Lock()
        self._apart = Gate()
        """For work that opens files of its own."""
        self._closed = False
        self._let_go: list[OpenNamespace] = []
        self._locked = False
        self._cut_off: frozenset[str] = frozenset()
        """While the process forks: what is closed, whether the lock is held, and in what work with other files could not be waited for."""
        self._inherited: list[OpenNamespace] = []
        """In a forked child: what could not be closed before. It is kept as it is, as closing it here could harm the parent's file."""
        self._not_ours: frozenset[str] = frozenset()
        """In a forked child: the names of those, and of what else it may not touch for the same reason."""
        watch(self)

    def begin(self, name: str) -> tuple[OpenNamespace, object]:
        """A namespace that stays open until the call that begins in it is given to `end`. Raises `ClosedError`."""
        call = object()
        with self._lock:
            self.check_own(name)
            opened = self._open.get(name)
            if opened is None:
                opened = self._open[name] = self._made(name)
                self.every.add(opened)
            self._open.move_to_end(name)
            opened.calls.add(call)
            idle = self._leave(next(iter(self._open))) if len(self._open) > KEPT_OPEN else None
        if idle is not None:
            idle.close()
        return opened, call

    def end(self, opened: OpenNamespace, call: object) -> None:
        """A call is at work in a namespace no more."""
        with self._lock:
            opened.calls.discard(call)
            last = opened.is_left and not opened.calls
        if last:
            opened.close()

    @contextmanager
    def cleared(self, name: str) -> Generator[None]:
        """While a namespace is cleared; who begins afterwards opens it anew.

        Calls that were at work before are waited for a little: one clearing after another would keep them from ever ending.
        """
        with self._lock:
            self.check_own(name)
            before = [(opened, frozenset(opened.calls)) for opened in self.every if opened.name == name]
        deadline = time.monotonic() + _CLEARING_WAITS_SECONDS
        while any(calls & opened.calls for opened, calls in before) and time.monotonic() < deadline:
            time.sleep(_LOOKS_EVERY_SECONDS)
        with self._apart.through(name):
            yield
        with self._lock:
            idle = self._leave(name)
        if idle is not None:
            idle.close()

    @contextmanager
    def all_looked_at(self) -> Generator[None]:
        """While files of any namespace are opened besides."""
        self.check_open()
        with self._apart.through(_ALL):
            yield

    def check_open(self) -> None:
        """Raise `ClosedError` after `close`."""
        if self._closed:
            raise ClosedError("This memory is closed; make a new Memory to go on.")

    def check_own(self, name: str) -> None:
        """Raise `ClosedError` after `close`, or in a forked child that may not touch the namespace."""
        self.check_open()
        if name_of(name) in self._not_ours or _ALL in self._not_ours:
            raise ClosedError(
                f"This process was forked while another thread was at work in the namespace “{quoted(name)}”, so it cannot be used here. Nothing was "
                "written; fork when no call is running, or start the process anew (multiprocessing calls that “spawn”)."
            )

    def close(self) -> None:
        """Close every file. Calling it again does nothing."""
        with self._lock:
            self._closed = True
            every = list(self._open.values())
            self._open.clear()
        for opened in every:
            opened.close()

    def before_fork(self) -> None:
        """Close every file for the time of a fork; waits a little for other threads that are at work in one."""
        deadline = time.monotonic() + _FORK_WAITS_SECONDS
        self._let_go = []
        self._locked = self._lock.acquire(timeout=_FORK_WAITS_SECONDS)
        with ExitStack() as every:
            for opened in list(self.every):
                every.callback(self._let_go_of, opened, deadline)
            self._cut_off = self._apart.shut(deadline)

    def after_fork(self, *, in_child: bool) -> None:
        """Go on after a fork; files are opened again when they are needed."""
        if in_child:
            self._become_a_child()
        with ExitStack() as every:
            if self._locked:
                every.callback(self._lock.release)
            every.callback(self._apart.open)
            for opened in self._let_go:
                every.callback(opened.go_on)
        self._let_go, self._locked = [], False

    def _become_a_child(self) -> None:
        """The threads that were at work are not here, and nothing that they held may stay so."""
        self._inherited += [opened for opened in self.every if opened not in self._let_go]
        self._not_ours |= self._cut_off | {opened.name for opened in self._inherited}
        self._open = OrderedDict((name, opened) for name, opened in self._open.items() if name not in self._not_ours)
        for opened in self._let_go:
            opened.calls.clear()
        self._lock, self._apart, self._locked = threading.Lock(), Gate(), False

    def _let_go_of(self, opened: OpenNamespace, deadline: float) -> None:
        if opened.let_go(deadline):
            self._let_go.append(opened)

    def _leave(self, name: str) -> OpenNamespace | None:
        """Begin nothing more in a namespace as it is open now, with the lock held; gives it if nobody is at work in it: it is to be closed."""
        opened = self._open.pop(name, None)
        if opened is None:
            return None
        opened.is_left = True
        return None if opened.calls else opened

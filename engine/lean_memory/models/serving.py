"""The worker as a process: one for each data root, found through a file, ended by its supervisor, a signal, or the end of its input."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType

from lean_memory.models.desk import Desk
from lean_memory.models.host import Host
from lean_memory.models.local import give_memory_back, give_pieces_back
from lean_memory.models.manifest import Role
from lean_memory.models.provision.lock import alone
from lean_memory.models.residents import Loader, Residents
from lean_memory.models.worker_file import LOCK_FILE, Roles, Worker, read_worker, remove_worker, write_worker

log = logging.getLogger(__name__)

LULL = 900.0
"""Seconds without a question after which a model gives its memory back."""
EXIT_ALREADY_RUNNING = 3
EXIT_RESTS = 5
"""Nobody asks for any model: the process may begin anew, `resting`, without the libraries that it loaded for them."""


def serve(
    root: Path,
    loaders: Mapping[Role, Loader],
    *,
    lull: float = LULL,
    supervised: bool = False,
    ended: threading.Event | None = None,
    rests: bool = False,
    resting: bool = False,
) -> int:
    """Hold the models that `loaders` bring until a signal, `ended`, or when `supervised` the end of standard input; 0 then, 3 where another worker does.

    Where it `rests`, it also ends with `EXIT_RESTS` after the last model has given its memory back; one that is `resting` loads nothing
    before somebody asks.
    """
    with alone(root / LOCK_FILE) as mine:
        if not mine:
            print(f"Another worker holds the models for {root} already.", file=sys.stderr)
            return EXIT_ALREADY_RUNNING
        over = ended or threading.Event()
        _end_on_signals(over)
        if supervised:
            threading.Thread(target=_end_with_input, args=(over,), daemon=True).start()
        emptied = threading.Event()
        residents = partial(
            Residents,
            loaders,
            lull=lull,
            tidy=give_memory_back,
            breathe=give_pieces_back,
            emptied=partial(_set, emptied, over) if rests else lambda: None,
            resting=resting,
        )
        _hold(root, residents, over)
    return EXIT_RESTS if emptied.is_set() else 0


def _set(*events: threading.Event) -> None:
    for event in events:
        event.set()


class _Sign:
    """What the worker says of itself in its file: by that alone it is found."""

    def __init__(self, root: Path, worker: Worker) -> None:
        self._root, self._worker = root, worker
        self._alone = threading.Lock()
        self._is_down = self._is_lamented = False

    def put(self, roles: Roles) -> None:
        """Say how far the models are. A disk that takes no file is told of once; it is tried again when somebody looks whether it stands."""
        with self._alone:
            if self._is_down:
                return
            self._worker = replace(self._worker, roles=roles)
            try:
                write_worker(self._root, self._worker)
                self._is_lamented = False
            except OSError as error:
                if not self._is_lamented:
                    log.warning("The worker cannot say where it is (%s).", error.strerror or error)
                self._is_lamented = True

    def stand(self) -> None:
        """Put it up again where it was lost or harmed, or could not be written."""
        held = read_worker(self._root)
        if held is None or held.instance != self._worker.instance or self._is_lamented:
            self.put(self._worker.roles)

    def take_down(self) -> None:
        """Take it away for good."""
        with self._alone:
            self._is_down = True
            remove_worker(self._root, self._worker.instance)


def _hold(root: Path, make_residents: Callable[..., Residents], over: threading.Event) -> None:
    instance, secret = secrets.token_hex(16), secrets.token_urlsafe(32)

    def note(roles: Roles) -> None:
        sign.put(roles)

    desk = Desk()
    residents = make_residents(changed=note, desk=desk)
    host = Host(residents, desk, secret=secret, instance=instance)
    worker = Worker(port=host.port, pid=os.getpid(), started_at=time.time_ns() // 1_000_000, instance=instance, secret=secret)
    sign = _Sign(root, worker)
    sign.put(residents.states)
    for work in (host.serve_forever, residents.keep_house):
        threading.Thread(target=_until_over, args=(work, over), daemon=True).start()
    while not over.wait(1.0):
        # Waking now and then lets Windows see a Ctrl-C.
        sign.stand()
    sign.take_down()
    residents.end()
    host.shutdown()
    host.server_close()


def _until_over(work: Callable[[], None], over: threading.Event) -> None:
    """A worker without one of its parts is of no use: whatever ends it ends all, and the supervisor starts another."""
    try:
        work()
    finally:
        over.set()


def _end_on_signals(over: threading.Event) -> None:
    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, end)


def _end_with_input(over: threading.Event) -> None:
    # Not sys.stdin: a thread that waits inside it makes the interpreter abort at its end.
    while os.read(0, 4096):
        pass
    over.set()

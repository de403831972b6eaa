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
from lean_memory.models.worker_file import LOCK_FILE, Roles, Worker, remove_worker, write_worker

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


def _hold(root: Path, make_residents: Callable[..., Residents], over: threading.Event) -> None:
    instance, secret = secrets.token_hex(16), secrets.token_urlsafe(32)
    writing = threading.Lock()

    def note(roles: Roles) -> None:
        with writing:
            if not over.is_set():
                write_worker(root, replace(worker, roles=roles))

    desk = Desk()
    residents = make_residents(changed=note, desk=desk)
    host = Host(residents, desk, secret=secret, instance=instance)
    worker = Worker(port=host.port, pid=os.getpid(), started_at=time.time_ns() // 1_000_000, instance=instance, secret=secret)
    note(residents.states)
    for work in (host.serve_forever, residents.keep_house):
        threading.Thread(target=_until_over, args=(work, over), daemon=True).start()
    while not over.wait(1.0):
        # Waking now and then lets Windows see a Ctrl-C.
        continue
    with writing:
        remove_worker(root, instance)
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

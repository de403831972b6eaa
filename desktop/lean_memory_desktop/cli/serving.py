"""`lean-memory serve`: the service, and whatever else belongs to it, without a tray."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import complain, say
from lean_memory_desktop.cli.opening import data_root
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory_desktop.supervisor import Supervisor

ACCESS_FILE = "access.jsonl"
"""The service's log of uses; named here once more, as the module that writes it loads what a supervisor does without."""
_CHECKUP_PATIENCE = 5.0
_GREETING = 60.0


def serve(options: Options) -> int:
    """Run until Ctrl-C, a signal, or `--idle-exit` seconds without a client; 3 where another process does it already."""
    from lean_memory_bridge.runtime import EXIT_ALREADY_RUNNING
    from lean_memory_desktop import instance

    root = data_root(options)
    with instance.claimed(root) as mine:
        if not mine:
            complain(f"Lean Memory already runs for {root} (process {instance.supervisor_pid(root)}).")
            return EXIT_ALREADY_RUNNING
        return _supervise(root, options.idle_exit)


def _supervise(root: Path, idle_exit: float | None) -> int:
    from lean_memory_bridge.runtime import find, read_runtime
    from lean_memory_bridge.shim.presence import how_many
    from lean_memory_desktop import instance
    from lean_memory_desktop.schedule import schedule_of
    from lean_memory_desktop.supervisor import End, Supervisor, service_program, worker_program

    schedule = schedule_of(root)
    supervisor = Supervisor(
        root,
        [service_program(root), worker_program(root)],
        in_use=lambda: how_many(root) > 0 or schedule.nightly.is_running or _used_lately(root, idle_exit or 0.0),
        elsewhere=lambda: find(root) is not None,
        worked=lambda pid: (runtime := read_runtime(root)) is not None and runtime.pid == pid,
        answers=lambda: find(root, timeout=_CHECKUP_PATIENCE) is not None,
        idle_exit=idle_exit,
    )
    _stop_on_signals(supervisor)
    instance.say_running(root)
    if sys.stdout is not None:
        threading.Thread(target=_greet, args=(root,), daemon=True).start()
    _tell_of_settings(root)
    schedule.start()
    try:
        end = supervisor.run()
    finally:
        schedule.stop()
    if end is End.FAILED:
        instance.say_failed(root, supervisor.reason)
        complain(supervisor.reason)
        return Exit.FAILED
    instance.say_gone(root)
    return Exit.FINE


def _tell_of_settings(root: Path) -> None:
    from lean_memory_bridge.nights import read_settings

    problem = read_settings(root).problem
    if problem:
        complain(problem)


def _used_lately(root: Path, seconds: float) -> bool:
    """Whether anybody read or wrote in the last `seconds`: a client that speaks HTTP is seen by its calls only."""
    try:
        return time.time() - (root / ACCESS_FILE).stat().st_mtime < seconds
    except FileNotFoundError:
        return False


def _stop_on_signals(supervisor: Supervisor) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        supervisor.stop()

    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, stop)


def _greet(root: Path) -> None:
    from lean_memory_bridge.runtime import find

    deadline = time.monotonic() + _GREETING
    while time.monotonic() < deadline:
        live = find(root)
        if live is not None:
            say(f"Lean Memory serves {root} at {live.address}. Ctrl-C stops it.")
            sys.stdout.flush()
            return
        time.sleep(0.1)

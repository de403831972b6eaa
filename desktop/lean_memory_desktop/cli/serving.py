"""`lean-memory serve`: the service, and whatever else belongs to it, without a tray."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from lean_memory_desktop.cli.console import complain, say
from lean_memory_desktop.cli.opening import command_line, data_root
from lean_memory_desktop.cli.options import Exit, Options
from lean_memory_desktop.ending import heeded

_GREETING = 60.0


def serve(options: Options) -> int:
    """Run until Ctrl-C, a signal, or `--idle-exit` seconds without a client; 3 where another process does it already."""
    from lean_memory_bridge.runtime import EXIT_ALREADY_RUNNING
    from lean_memory_desktop import instance
    from lean_memory_desktop.cli.updated import wait_for_update

    wait_for_update()
    root = data_root(options)
    with instance.claimed(root) as mine:
        if not mine:
            complain(_already(options, root, instance.supervisor_pid(root)))
            return EXIT_ALREADY_RUNNING
        if sys.stderr.isatty():
            complain(f"Lean Memory starts for {root}.")
        return supervise(root, options.idle_exit, lambda: _greet(root))


def _already(options: Options, root: Path, process: int | None) -> str:
    from lean_memory_bridge.runtime import find

    live, opens = find(root), command_line(options, "open")
    at = "" if live is None else f" at {live.address}"
    named = "" if process is None else f" (process {process})"
    end = "" if process is None else f", or end process {process}"
    return (
        f"Lean Memory already runs for {root}{at}{named}; `{opens}` shows it. To stop it, choose Quit in the tray's menu or press Ctrl-C "
        f"in its terminal{end}. One that an assistant started leaves by itself ten minutes after the last call."
    )


def supervise(root: Path, idle_exit: float | None, greet: Callable[[], None]) -> int:
    """Keep everything running, holding the supervisor's lock; `greet` is called once the service answers, where there is anybody to greet."""
    from lean_memory_desktop.household import Household
    from lean_memory_desktop.supervisor import End

    household = Household(root, idle_exit=idle_exit)
    _stop_on_signals(household.stop)
    if sys.stdout is not None:
        threading.Thread(target=_once_it_answers, args=(root, greet), daemon=True).start()
    _tell_of_settings(root)
    if household.run() is End.FAILED:
        complain(household.reason)
        return Exit.FAILED
    return Exit.FINE


def _tell_of_settings(root: Path) -> None:
    from lean_memory_bridge.nights import read_settings

    problem = read_settings(root).problem
    if problem:
        complain(problem)


def _stop_on_signals(end: Callable[[], None]) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        end()

    for number in heeded():
        signal.signal(number, stop)


def _once_it_answers(root: Path, greet: Callable[[], None]) -> None:
    from lean_memory_bridge.runtime import find

    deadline = time.monotonic() + _GREETING
    while time.monotonic() < deadline:
        if find(root) is not None:
            greet()
            return
        time.sleep(0.1)


def _greet(root: Path) -> None:
    from lean_memory_bridge.runtime import find

    live = find(root)
    if live is not None:
        say(f"Lean Memory serves {root} at {live.address}. Ctrl-C stops it.")
        sys.stdout.flush()

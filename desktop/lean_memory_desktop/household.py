"""All that runs for a data root, with or without a tray: the supervised processes and the nightly schedule."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory_bridge.runtime import find, read_runtime
from lean_memory_bridge.shim.presence import how_many
from lean_memory_desktop import instance
from lean_memory_desktop.supervisor import End, Supervisor, service_program, worker_program

if TYPE_CHECKING:
    from lean_memory_desktop.schedule import Schedule

ACCESS_FILE = "access.jsonl"
"""The service's log of uses; named here once more, as the module that writes it loads what a supervisor does without."""
_CHECKUP_PATIENCE = 5.0
_LOOKED_BACK = 60.0
"""Seconds; more than lie between two looks of a supervisor. From the last call that one of them saw it counts by itself."""


class Household:
    """The processes and the schedule of `root`. The caller holds the supervisor's lock. `idle_exit` is that of `Supervisor`."""

    def __init__(self, root: Path, *, idle_exit: float | None = None) -> None:
        self._root = root
        self._leaves = idle_exit is not None
        self._schedule: Schedule | None = None
        self._supervisor = Supervisor(
            root,
            [service_program(root), worker_program(root)],
            in_use=lambda: how_many(root) > 0 or self._runs_nightly() or _used_lately(root, min(_LOOKED_BACK, (idle_exit or 0.0) / 2)),
            elsewhere=lambda: find(root) is not None,
            worked=lambda pid: (runtime := read_runtime(root)) is not None and runtime.pid == pid,
            answers=lambda: find(root, timeout=_CHECKUP_PATIENCE) is not None,
            idle_exit=idle_exit,
        )

    @property
    def reason(self) -> str:
        """Why it failed, as a sentence for a person."""
        return self._supervisor.reason

    def run(self) -> End:
        """Run until asked to stop, idle for long enough, or beaten; every process has ended then."""
        instance.say_running(self._root, leaves=self._leaves)
        try:
            end = self._supervisor.run(self._begin_schedule)
        finally:
            if self._schedule is not None:
                self._schedule.stop()
        if end is End.FAILED:
            instance.say_failed(self._root, self.reason)
        else:
            instance.say_gone(self._root)
        return end

    def stop(self) -> None:
        """Ask it to end. May be called from a signal handler and from any thread."""
        self._supervisor.stop()

    def _begin_schedule(self) -> None:
        # Loaded when the service is on its way, which takes longest to be there; the first look at the clock is a minute off.
        from lean_memory_desktop.schedule import schedule_of

        self._schedule = schedule_of(self._root)
        self._schedule.start()

    def _runs_nightly(self) -> bool:
        return self._schedule is not None and self._schedule.nightly.is_running


def _used_lately(root: Path, seconds: float) -> bool:
    """Whether anybody read or wrote in the last `seconds`: a client that speaks HTTP is seen by its calls only."""
    try:
        return time.time() - (root / ACCESS_FILE).stat().st_mtime < seconds
    except FileNotFoundError:
        return False

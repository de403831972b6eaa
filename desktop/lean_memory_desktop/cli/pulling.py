"""How far a download is, on the person's terminal or in a log."""

from __future__ import annotations

import sys
import time
from typing import Any

from lean_memory.models.library import Progress, amount
from lean_memory_desktop.cli.console import complain, printable

_LOGGED_EVERY = 10.0
"""Seconds between two lines where no person watches a bar."""


def remaining(seconds: float | None) -> str:
    """A time to wait in words; empty where nothing can be said of it."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"


class Display:
    """Shows a download on stderr while the block runs: a bar for a person, a line now and then for a log."""

    def __init__(self, what: str) -> None:
        self._what, self._live = what, _live() if sys.stderr.isatty() else None
        self._task: Any = None
        self._logged, self._at = "", time.monotonic()

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
            self._task = self._live.add_task("", total=None, told="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """This moment."""
        told = ", ".join(
            part
            for part in (
                f"{amount(progress.done)} of {amount(progress.total)}",
                f"{amount(progress.speed)}/s" if progress.speed else "",
                remaining(progress.seconds_left),
                f"{progress.trouble}; trying again" if progress.trouble else "",
            )
            if part
        )
        doing = f"{progress.phase.value} {progress.path}"
        if self._live is not None:
            self._live.update(
                self._task, description=printable(doing, sys.stderr), completed=progress.done, total=progress.total or 1, told=told
            )
        elif progress.total and (progress.phase.value != self._logged or time.monotonic() - self._at >= _LOGGED_EVERY):
            self._logged, self._at = progress.phase.value, time.monotonic()
            complain(f"{self._what}: {progress.phase.value}, {told}")


def _live() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bars, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), TextColumn("{task.fields[told]}", markup=False))
    return Bars(*columns, console=Console(stderr=True, highlight=False), transient=True)

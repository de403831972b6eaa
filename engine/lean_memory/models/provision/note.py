"""What a pull says of itself in the data root, so that another process can show how far it is."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from lean_memory.clock import system_clock
from lean_memory.models.installed import models_folder, write_privately
from lean_memory.models.provision.lock import is_held
from lean_memory.models.provision.watch import Progress

LOCK_FILE = ".lock"
_NOTE_FILE = "pull.json"
_EVERY = 0.5
"""Seconds between two notes of a running pull."""


class PullState(StrEnum):
    """How the last pull stands."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CUT_OFF = "cut off"
    """Its process ended without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullNote:
    """The last pull of a data root; `at` is epoch milliseconds, the rest bytes and seconds."""

    state: PullState
    tier: str
    origin: str
    phase: str = ""
    done: int = 0
    total: int = 0
    model: str = ""
    file: str = ""
    speed: float = 0.0
    seconds_left: float | None = None
    trouble: str = ""
    """Why nothing comes at present; it is tried again."""
    sentence: str = ""
    """Why it ended, where it did not end well."""
    at: int = 0


class Notes:
    """Writes the note of one pull."""

    def __init__(self, root: Path, tier: str, origin: str, report: Callable[[Progress], None]) -> None:
        self._root, self._report = root, report
        self._note = PullNote(state=PullState.RUNNING, tier=tier, origin=origin)
        self._written = float("-inf")

    def take(self, progress: Progress) -> None:
        """Note a moment now and then, and pass it on."""
        self._note = replace(
            self._note,
            phase=progress.phase.value,
            done=progress.done,
            total=progress.total,
            model=progress.model_id,
            file=progress.path,
            speed=progress.speed,
            seconds_left=progress.seconds_left,
            trouble=progress.trouble,
        )
        if time.monotonic() - self._written >= _EVERY:
            self._write()
        self._report(progress)

    def end(self, state: PullState, sentence: str = "") -> None:
        """The pull is over."""
        self._note = replace(self._note, state=state, sentence=sentence, speed=0.0, seconds_left=None, trouble="")
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        try:
            write_privately(models_folder(self._root) / _NOTE_FILE, asdict(replace(self._note, at=system_clock())))
        except OSError:
            # The note is for onlookers; a disk that takes no note will take no model either, and that is told.
            return


def last_pull(root: Path) -> PullNote | None:
    """How the last pull of a data root stands; `None` before the first."""
    models = models_folder(root)
    try:
        note = _read(json.loads((models / _NOTE_FILE).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if note.state is PullState.RUNNING and not is_held(models / LOCK_FILE):
        sentence = "The download was cut off. What came is kept, and the same command goes on from there."
        return replace(note, state=PullState.CUT_OFF, speed=0.0, seconds_left=None, trouble="", sentence=sentence)
    return note


def _read(written: Mapping[str, object]) -> PullNote:
    """Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for what no pull has written."""
    left = written.get("seconds_left")
    words = {name: str(written.get(name, "")) for name in ("phase", "model", "file", "trouble", "sentence")}
    whole = {name: _number(written.get(name, 0)) for name in ("done", "total", "at")}
    return PullNote(
        state=PullState(str(written["state"])),
        tier=str(written["tier"]),
        origin=str(written["origin"]),
        speed=_finite(written.get("speed", 0.0)),
        seconds_left=None if left is None else _finite(left),
        **words,  # pyright: ignore[reportArgumentType] - names of fields that are text
        **whole,  # pyright: ignore[reportArgumentType] - and of those that are numbers
    )


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


def _finite(value: object) -> float:
    if not isinstance(value, int | float) or not abs(value) < math.inf:
        raise ValueError(value)
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(value) from error


def forget_pull(root: Path, tier: str) -> None:
    """Take the note away if it is of that tier, of which nothing is here any more."""
    note = last_pull(root)
    if note is not None and note.tier == tier:
        (models_folder(root) / _NOTE_FILE).unlink(missing_ok=True)
